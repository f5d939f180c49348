import { request } from 'node:http'
import { Duplex } from 'node:stream'
import { HEAD_BYTES_MAX, ResponseReader } from '../http/responseReader.ts'

/** The result of a reader for the bytes of a connection. Headers are alternating names and values, as received. */
export type Reading =
  | {
      readonly kind: 'whole'
      readonly status: number
      readonly headers: readonly string[]
      readonly body: string
    }
  | { readonly kind: 'none' }

const NONE: Reading = { kind: 'none' }

/** The result of our reader for `pieces`, and the number of bytes that belong to the response. */
export function readOwn(pieces: readonly Buffer[]): {
  readonly reading: Reading
  readonly usedBytes: number
} {
  let reading: Reading | undefined
  let status = 0
  let headers: readonly string[] = []
  const body: Buffer[] = []
  const reader = new ResponseReader({
    onHead: (head) => {
      status = head.status
      headers = head.headers.flat()
    },
    onBody: (bytes) => body.push(bytes),
    onEnd: () => {
      reading = { kind: 'whole', status, headers, body: Buffer.concat(body).toString('latin1') }
    },
    onFault: () => {
      reading = NONE
    },
  })
  let usedBytes = 0
  for (const piece of pieces) {
    if (reading !== undefined) break
    reader.push(piece)
    usedBytes += piece.length
  }
  reader.close()
  return { reading: reading ?? NONE, usedBytes }
}

/** The result of node:http for `bytes`. */
export function readWithNode(bytes: Buffer): Promise<Reading> {
  return new Promise((resolve) => {
    const connection = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() })
    const options = { host: 'example.com', maxHeaderSize: HEAD_BYTES_MAX, createConnection: () => connection }
    const asked = request(options, (response) => {
      const body: Buffer[] = []
      response.on('data', (part: Buffer) => body.push(part))
      response.on('error', () => resolve(NONE))
      response.on('end', () => {
        const { statusCode: status = 0, rawHeaders: headers } = response
        resolve({ kind: 'whole', status, headers, body: Buffer.concat(body).toString('latin1') })
      })
    })
    asked.maxHeadersCount = 0
    asked.on('upgrade', () => resolve(NONE))
    asked.on('error', () => resolve(NONE))
    asked.end()
    asked.on('finish', () => {
      connection.push(bytes)
      connection.push(null)
    })
  })
}
