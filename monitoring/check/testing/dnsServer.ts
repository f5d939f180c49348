import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** The addresses of a name by the number of the query, from 0; `undefined` for a name that does not exist. */
export type NameTable = Readonly<
  Record<string, (question: number) => readonly string[] | 'no response' | 'failure'>
>

/** A DNS server on loopback. */
export interface DnsServer {
  /** Host and port in the form for a resolver. */
  readonly address: string
  /** Number of queries for A records so far. */
  readonly questions: () => number
  readonly close: () => Promise<void>
}

const TYPE_A = 1
const HEADER_BYTES = 12
const RESPONSE = 0x81_80
const NAME_UNKNOWN = 3
const SERVER_FAILURE = 2

/** Starts a DNS server for the IPv4 addresses in `names`, with a TTL of `ttlSecs`; at the address `at`, if given. */
export async function startDnsServer(
  names: NameTable,
  ttlSecs = 60,
  at: { readonly port: number; readonly address: string } = { port: 0, address: '127.0.0.1' },
): Promise<DnsServer> {
  const socket = createSocket('udp4')
  let questions = 0
  socket.on('message', (query, { port, address }) => {
    const end = query.indexOf(0, HEADER_BYTES)
    const labels: string[] = []
    for (let at = HEADER_BYTES; at < end; at += (query[at] ?? 0) + 1) {
      labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
    }
    const isA = query.readUInt16BE(end + 1) === TYPE_A
    const name = labels.join('.').toLowerCase()
    const found = names[name]?.(questions)
    if (isA) questions += 1
    if (found === 'no response') return
    const addresses = isA && Array.isArray(found) ? found : []
    const head = Buffer.from(query.subarray(0, HEADER_BYTES))
    const code = found === undefined ? NAME_UNKNOWN : found === 'failure' ? SERVER_FAILURE : 0
    head.writeUInt16BE(RESPONSE | code, 2)
    head.writeUInt16BE(addresses.length, 6)
    head.writeUInt32BE(0, 8)
    const records = addresses.map((one: string) => {
      const record = Buffer.from([
        0xc0,
        HEADER_BYTES,
        0,
        TYPE_A,
        0,
        1,
        0,
        0,
        0,
        0,
        0,
        4,
        ...one.split('.').map(Number),
      ])
      record.writeUInt32BE(ttlSecs, 6)
      return record
    })
    socket.send(Buffer.concat([head, query.subarray(HEADER_BYTES, end + 5), ...records]), port, address)
  })
  socket.bind(at)
  await once(socket, 'listening')
  return {
    address: `${at.address}:${socket.address().port}`,
    questions: () => questions,
    close: async () => {
      socket.close()
      await once(socket, 'close')
    },
  }
}
