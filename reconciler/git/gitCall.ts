import type { GitAccess } from './gitAccess.ts'

/** One call of git. */
export interface GitCall {
  readonly access: GitAccess
  /** Working directory. */
  readonly directory: string
  readonly args: readonly string[]
  readonly input?: string
  /**
   * A call that follows once this one has succeeded, without input. A shell starts both, because it takes a large
   * process milliseconds to start another one.
   */
  readonly next?: readonly string[] | undefined
  /** Time limit (milliseconds). */
  readonly limitMs: number
  /** Largest file that it may write (bytes), such as the pack of a transfer; any when absent. */
  readonly fileBytesMax?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Environment, of which git receives only a few variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether to fail when the other side did not speak git's protocol: git reads many web pages as an empty repository. */
  readonly protocolOnly?: boolean
  /** Folder of the accepted OpenPGP keys; absent for none. */
  readonly keyRing?: string | undefined
  /** Whether to use the settings of the user and the machine, because the repository is the user's checkout. */
  readonly usersSettings?: boolean
}
