/** The socket on which a plugin waits for Terraform. */
import { mkdtempSync, rmdirSync, unlinkSync } from 'node:fs'
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PluginAddress, PortRange } from './environment.ts'

/** The shortest `sun_path` of the systems that Terraform runs on is 104 bytes (macOS), with a closing zero. */
const SOCKET_PATH_BYTES_MAX = 103

/** Any port. */
const ANY: PortRange = { first: 0, last: 0 }

/** Where to listen, and how to leave it. */
interface ListenTarget {
  /** Path of the socket; `undefined` for TCP. */
  readonly socketPath: string | undefined
  remove(): void
}

const TCP: ListenTarget = { socketPath: undefined, remove: () => undefined }

/**
 * A socket in a new directory of its own that only this user may enter, below `directory` or the system's
 * temporary directory. TCP on the loopback interface where such a path would be too long, and on Windows.
 */
function chooseTarget(directory: string | undefined): ListenTarget {
  const parent = directory ?? tmpdir()
  const longest = join(parent, 'tf-XXXXXX', 's')
  if (process.platform === 'win32' || Buffer.byteLength(longest) > SOCKET_PATH_BYTES_MAX) return TCP
  const own = mkdtempSync(join(parent, 'tf-'))
  const socketPath = join(own, 's')
  return { socketPath, remove: () => removeSocket(own, socketPath) }
}

/** Removes what is there of the two: closing a listener removes its socket, at a moment of its own. */
function removeSocket(directory: string, socketPath: string): void {
  try {
    unlinkSync(socketPath)
  } catch {}
  try {
    rmdirSync(directory)
  } catch {}
}

/** A socket that accepts connections. */
export interface OpenSocket {
  readonly address: PluginAddress
  /** Hands every connection over, also those that were made before. Nothing is read from one until then. */
  handOver(serve: (connection: Socket) => void): void
  /** Accepts no more connections and removes what the socket left in the file system. */
  close(): void
}

/**
 * Listens below `directory`, or on the first free one of `ports` where that is not possible. Resolves when connections are
 * accepted; rejects when none can be.
 *
 * It is opened before the gRPC server exists, so that Terraform connects while that is loaded.
 */
export async function openSocket(directory: string | undefined, ports: PortRange = ANY): Promise<OpenSocket> {
  const { socketPath, remove } = chooseTarget(directory)
  const early: Socket[] = []
  const keep = (connection: Socket): void => void early.push(connection)
  const listener = createServer(keep)
  try {
    if (socketPath === undefined) await listenInRange(listener, ports)
    else await listening(listener, { path: socketPath })
  } catch (error) {
    remove()
    throw new Error(`cannot listen on ${socketPath ?? 'the loopback interface'}`, { cause: error })
  }
  // Accepting a connection failed, of which its client hears.
  listener.on('error', () => undefined)
  return {
    address: addressOf(listener.address(), socketPath),
    handOver: (serve) => {
      listener.off('connection', keep).on('connection', serve)
      for (const connection of early) serve(connection)
    },
    close: () => {
      listener.close()
      remove()
    },
  }
}

function listening(listener: Server, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(where, () => {
      listener.off('error', reject)
      resolve()
    })
  })
}

/** Tries one port after the other, as go-plugin does: others may be in use, or reserved by the system. */
async function listenInRange(listener: Server, { first, last }: PortRange): Promise<void> {
  for (let port = first; port < last; port += 1) {
    try {
      return await listening(listener, { host: '127.0.0.1', port })
    } catch {}
  }
  await listening(listener, { host: '127.0.0.1', port: last })
}

function addressOf(bound: AddressInfo | string | null, socketPath: string | undefined): PluginAddress {
  if (socketPath !== undefined) return { network: 'unix', address: socketPath }
  // True because a listener without a path listens on TCP.
  return { network: 'tcp', address: `127.0.0.1:${(bound as AddressInfo).port}` }
}
