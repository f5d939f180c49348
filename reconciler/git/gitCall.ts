import type { GitAccess } from './gitAccess.ts'

/** What one call of git is given. */
export interface GitCall {
  readonly access: GitAccess
  /** Where to run; the bare mirror, once there is one. */
  readonly directory: string
  readonly args: readonly string[]
  readonly input?: string
  /** Longest run (milliseconds). */
  readonly limitMs: number
  /** Largest file that it may write (bytes), such as the pack of a transfer; any when absent. */
  readonly fileBytesMax?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Variables of the operator's own, of which only a few reach git. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Folder of the OpenPGP keys that count; absent for none. */
  readonly keyRing?: string | undefined
  /** Whether the settings of the user and of the machine count, because the repository is the user's own checkout. */
  readonly usersSettings?: boolean
}
