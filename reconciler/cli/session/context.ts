import type { ManifestProblem } from '../../manifest/manifestProblem.ts'
import type { Output } from '../../text/output.ts'
import type { Interruption } from './interruption.ts'
import type { CommandOptions, Environment } from './settings.ts'

/** The environment of a command. */
export interface CommandContext {
  readonly output: Output
  readonly env: Environment
  readonly options: CommandOptions
  readonly interruption: Interruption
}

/** The result of a command: its exit code, and the inputs of the formats. */
export interface CommandResult {
  readonly exitCode: number
  /** For --json. */
  readonly document: object
  /** For SARIF: problems and warnings of the manifests. */
  readonly problems?: readonly ManifestProblem[]
  /** For SARIF: the digest of a plan. */
  readonly planDigest?: string | null
  /** For Markdown, if the command supports it. */
  readonly markdown?: string
  /** For JUnit, if the command supports it. */
  readonly junit?: string
}
