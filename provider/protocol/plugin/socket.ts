/** The socket on which a plugin waits for Terraform. */
import { mkdtempSync, rmdirSync, unlinkSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PluginAddress } from './environment.ts'

/** The shortest `sun_path` of the systems that Terraform runs on is 104 bytes (macOS), with a closing zero. */
const SOCKET_PATH_BYTES_MAX = 103

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
 * Listens below `directory`. Resolves when connections are accepted; rejects when none can be.
 *
 * It is opened before the gRPC server exists, so that Terraform connects while that is loaded.
 */
export function openSocket(directory: string | undefined): Promise<OpenSocket> {
  const { socketPath, remove } = chooseTarget(directory)
  const early: Socket[] = []
  const keep = (connection: Socket): void => void early.push(connection)
  const listener = createServer(keep)
  return new Promise((resolve, reject) => {
    listener.on('error', (error) => {
      remove()
      reject(new Error(`cannot listen on ${socketPath ?? 'the loopback interface'}`, { cause: error }))
    })
    listener.listen(socketPath === undefined ? { host: '127.0.0.1', port: 0 } : { path: socketPath }, () => {
      resolve({
        address: addressOf(listener.address(), socketPath),
        handOver: (serve) => {
          listener.off('connection', keep).on('connection', serve)
          for (const connection of early) serve(connection)
        },
        close: () => {
          listener.close()
          remove()
        },
      })
    })
  })
}

function addressOf(bound: AddressInfo | string | null, socketPath: string | undefined): PluginAddress {
  if (socketPath !== undefined) return { network: 'unix', address: socketPath }
  // True because a listener without a path listens on TCP.
  return { network: 'tcp', address: `127.0.0.1:${(bound as AddressInfo).port}` }
}
