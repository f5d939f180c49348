/** Where the plugin's socket is. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The shortest `sun_path` of the systems that Terraform runs on is 104 bytes (macOS), with a closing zero. */
const SOCKET_PATH_BYTES_MAX = 103

/** A place to listen, as gRPC spells it, and how to leave it. */
export interface ListenTarget {
  /** `unix:/path` or `127.0.0.1:0`. */
  readonly target: string
  /** Path of the socket; `undefined` for TCP. */
  readonly socketPath: string | undefined
  remove(): void
}

const TCP: ListenTarget = { target: '127.0.0.1:0', socketPath: undefined, remove: () => undefined }

/**
 * A socket in a new directory of its own that only this user may enter, below `directory` or the system's
 * temporary directory. TCP on the loopback interface where such a path would be too long, and on Windows.
 */
export function chooseTarget(directory: string | undefined): ListenTarget {
  const parent = directory ?? tmpdir()
  const longest = join(parent, 'tf-XXXXXX', 's')
  if (process.platform === 'win32' || Buffer.byteLength(longest) > SOCKET_PATH_BYTES_MAX) return TCP
  const own = mkdtempSync(join(parent, 'tf-'))
  const socketPath = join(own, 's')
  return {
    target: `unix:${socketPath}`,
    socketPath,
    remove: () => rmSync(own, { recursive: true, force: true }),
  }
}
