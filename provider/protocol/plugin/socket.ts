/** The socket on which a plugin listens for Terraform. */
import { mkdtempSync, rmdirSync, unlinkSync } from 'node:fs'
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PluginAddress, PortRange } from './environment.ts'

/** Shortest `sun_path` of Terraform's platforms: 104 bytes (macOS), including the terminating zero. */
const SOCKET_PATH_BYTES_MAX = 103

/** Port 0: the system chooses. */
const ANY: PortRange = { first: 0, last: 0 }

/** The address to listen on, and its cleanup. */
interface ListenTarget {
  /** Path of the socket; `undefined` for TCP. */
  readonly socketPath: string | undefined
  remove(): void
}

const TCP: ListenTarget = { socketPath: undefined, remove: () => undefined }

/**
 * A socket in a new directory that only this user may access, below `directory` or the system's temporary directory. TCP on the
 * loopback interface if the path would be too long, if there is no such directory or it cannot be written, and on
 * Windows.
 */
function chooseTarget(directory: string | undefined): ListenTarget {
  const parent = directory ?? tmpdir()
  const longest = join(parent, 'tf-XXXXXX', 's')
  if (process.platform === 'win32' || Buffer.byteLength(longest) > SOCKET_PATH_BYTES_MAX) return TCP
  let own: string
  try {
    own = mkdtempSync(join(parent, 'tf-'))
  } catch {
    // Terraform would show the reason only in its log.
    return TCP
  }
  const socketPath = join(own, 's')
  return { socketPath, remove: () => removeSocket(own, socketPath) }
}

/** Removes socket and directory, if they exist: closing a listener removes its socket asynchronously. */
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
  /** Passes every connection to `serve`, including earlier ones. Nothing is read from a connection before. */
  handOver(serve: (connection: Socket) => void): void
  /** Accepts no more connections, and removes the files of the socket. */
  close(): void
}

/**
 * Listens on a socket below `directory`, or else on the first free port of `ports`. Resolves when connections are
 * accepted. Rejects when that is impossible.
 *
 * The socket is opened before the gRPC server exists, so that Terraform connects while the server is loaded.
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
  // Accepting a connection failed; its client notices.
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

/** Tries the ports in order, as go-plugin does, because some may be in use or reserved by the system. */
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
