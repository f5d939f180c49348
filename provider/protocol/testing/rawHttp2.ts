/** An HTTP/2 client that sends any frames, valid or not, to a server in the same process. */
import { type Duplex, duplexPair } from 'node:stream'
import { FLAG, type Frame, frame, numbersFrame, TYPE, uint31 } from '../grpc/http2/frames.ts'

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** An empty SETTINGS frame. */
export const NO_SETTINGS = frame(TYPE.settings, 0, 0, Buffer.alloc(0))

export interface RawClient {
  /** Sends `bytes`. Resolves when the server has handled them. */
  send(...bytes: readonly Buffer[]): Promise<void>
  /** The frames that arrived since the last call. */
  received(): readonly Frame[]
  /** The same in short form: type, stream, and the code of GOAWAY and RST_STREAM or the length of the payload. */
  shortly(): readonly string[]
  /** Whether the server closed the connection. */
  isClosed(): boolean
  /** Reads no more. */
  stopReading(): void
  /** Destroys the connection on both sides. */
  drop(): void
}

/** Connects to `serve`. */
export function rawClient(serve: (connection: Duplex) => void): RawClient {
  const [near, far] = duplexPair()
  let bytes = Buffer.alloc(0)
  let isClosed = false
  near.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
  })
  far.on('close', () => {
    isClosed = true
  })
  serve(far)
  const received = (): readonly Frame[] => {
    const frames: Frame[] = []
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const end = 9 + bytes.readUIntBE(0, 3)
      const [type, flags] = [bytes.readUInt8(3), bytes.readUInt8(4)]
      frames.push({ type, flags, streamId: uint31(bytes, 5), payload: bytes.subarray(9, end) })
      bytes = bytes.subarray(end)
    }
    return frames
  }
  return {
    send: async (...chunks) => {
      for (const chunk of chunks) near.write(chunk)
      // Everything happens in this process, so after some turns of its event loop all work is done.
      for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => void setImmediate(resolve))
    },
    received,
    shortly: () => received().map(shortForm),
    isClosed: () => isClosed,
    stopReading: () => void near.pause(),
    drop: () => void far.destroy(),
  }
}

const NAMES = new Map<number, string>(Object.entries(TYPE).map(([name, type]) => [type, name]))

function shortForm({ type, flags, streamId, payload }: Frame): string {
  const name = NAMES.get(type) ?? String(type)
  const end = (type === TYPE.data || type === TYPE.headers) && flags & FLAG.endStream ? ' end' : ''
  if (type === TYPE.goAway) return `goAway ${uint31(payload, 0)} code ${payload.readUInt32BE(4)}`
  if (type === TYPE.rstStream) return `rstStream ${streamId} code ${payload.readUInt32BE(0)}`
  if (type === TYPE.windowUpdate) return `windowUpdate ${streamId} by ${uint31(payload, 0)}`
  const ack = (type === TYPE.settings || type === TYPE.ping) && flags & FLAG.ack ? ' ack' : ''
  return `${name} ${streamId}${ack}${end}${type === TYPE.data ? ` of ${payload.length}` : ''}`
}

/** A literal header without indexing. Names and values have less than 127 bytes. */
export function literal(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ])
}

/** The header block for a call of `path`. */
export function callBlock(path: string): Buffer {
  // POST and http by their indices in the static table.
  return Buffer.concat([
    Buffer.from([0x83, 0x86]),
    literal(':path', path),
    literal('content-type', 'application/grpc'),
  ])
}

/** HEADERS that start a call of `path`, without ending the request. */
export function callFrame(streamId: number, path: string, flags: number = FLAG.endHeaders): Buffer {
  return frame(TYPE.headers, flags, streamId, callBlock(path))
}

/** DATA with a message of `bytes` that ends the request. */
export function messageFrame(streamId: number, bytes: Uint8Array = Buffer.alloc(0)): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(bytes.length, 1)
  return frame(TYPE.data, FLAG.endStream, streamId, Buffer.concat([prefix, bytes]))
}

export function resetFrame(streamId: number): Buffer {
  return numbersFrame(TYPE.rstStream, streamId, 8)
}
