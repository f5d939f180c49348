import type { ManifestProblem } from '../../manifest/manifestProblem.ts'
import type { Output } from '../../text/output.ts'
import type { Interruption } from './interruption.ts'
import type { CommandOptions, Environment } from './settings.ts'

/** A command's surroundings. */
export interface CommandContext {
  readonly output: Output
  readonly env: Environment
  readonly options: CommandOptions
  /** Resolves the first time that the user or the system asks the program to stop, with the exit code for it. */
  readonly interruption: Interruption
}

/** How a command ended: its exit code, and what the formats that are one document show of it besides. */
export interface CommandResult {
  readonly exitCode: number
  /** For --json. */
  readonly document: object
  /** For SARIF: problems and warnings of the manifests. */
  readonly problems?: readonly ManifestProblem[]
  /** For SARIF: the digest of a plan. */
  readonly planDigest?: string | null
  /** For Markdown, where the command has that. */
  readonly markdown?: string
  /** For JUnit, where the command has that. */
  readonly junit?: string
}
