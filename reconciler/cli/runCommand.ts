import { ConnectionError } from '../../api/client/attempt.ts'
import { UnreadableAnswer } from '../../api/client/contractAnswer.ts'
import { KeysDisagree } from '../../api/client/keyRing.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import { ReadOnlyKey } from '../apply/applySet.ts'
import { PlanChanged } from '../apply/planDigest.ts'
import { OrgMismatch } from '../apply/situation.ts'
import { UnknownEnvironment } from '../manifest/compile/environment.ts'
import type { ManifestProblem } from '../manifest/manifestProblem.ts'
import { visible } from '../../api/contract/visibleText.ts'
import { ApiTimeout } from '../run/apiWait.ts'
import { databaseFailureText, isDatabaseError } from '../run/databaseFailure.ts'
import { EXIT } from '../run/exitCode.ts'
import { isSomebodyElses, StateError } from '../state/model/stateError.ts'
import type { FailureCode } from './failureCode.ts'
import { fileErrorText, isFileError, UnwritableFile } from './fileFailure.ts'
import { closingText, type Ending, formatOf } from './format.ts'
import { Interrupted } from './interruption.ts'
import { type Output, outputOn, type Streams } from './output.ts'
import { type CommandOptions, type Environment, UsageError } from './settings.ts'

/** A command's surroundings. */
export interface CommandContext {
  readonly output: Output
  readonly env: Environment
  readonly options: CommandOptions
  /** Resolves the first time that the user or the system asks the program to stop, with the exit code for it. */
  readonly interruption: Interruption
}

/** A wish to stop. */
export interface Interruption {
  readonly exitCode: () => number | undefined
  readonly onStop: (listener: () => void) => void
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
}

/** Runs `command`, prints what its format ends with or its error, and resolves with the exit code. Never rejects. */
export async function runCommand(
  name: string,
  options: CommandOptions,
  streams: Streams,
  interruption: Interruption,
  command: (context: CommandContext) => Promise<CommandResult>,
): Promise<number> {
  const format = formatOf(options)
  const output = outputOn(streams, format, options.quiet)
  const end = (ending: Ending): void => {
    const text = closingText(format, name, ending, streams.cwd)
    if (text !== undefined) output.closing(text)
  }
  try {
    const result = await command({ output, env: streams.env, options, interruption })
    end({ result })
    return result.exitCode
  } catch (error) {
    const failure = failureOf(error)
    tellFailure(failure, output)
    end({ failure })
    return failure.exitCode
  }
}

/** Why a command could not run. */
export interface Failure {
  readonly code: FailureCode
  readonly message: string
  readonly exitCode: number
}

/** Says on one line why a command could not run; what nobody foresaw takes as many as it needs. */
export function tellFailure({ code, message }: Failure, output: Output): void {
  output.error(code === 'E_INTERNAL' ? message : visible(message))
}

/** `error` as a user should read it. An error that nobody foresaw says so and shows where it happened. Pure. */
export function failureOf(error: unknown): Failure {
  const failure = (code: FailureCode, message: string, exitCode: number = EXIT.couldNotRun): Failure => ({
    code,
    message,
    exitCode,
  })
  if (error instanceof UsageError || error instanceof UnknownEnvironment)
    return failure('E_USAGE', error.message)
  if (error instanceof Interrupted) return failure('E_INTERRUPTED', error.message, error.exitCode)
  if (error instanceof OrgMismatch || error instanceof KeysDisagree)
    return failure('E_ORG_MISMATCH', error.message)
  if (error instanceof PlanChanged) return failure('E_PLAN_STALE', error.message, EXIT.decisionNeeded)
  if (error instanceof ApiTimeout) return failure('E_TIMEOUT', error.message)
  if (error instanceof ReadOnlyKey) return failure('E_READ_ONLY_KEY', error.message)
  if (error instanceof StateError) {
    return failure('E_STATE', error.message, isSomebodyElses(error) ? EXIT.stateHeld : EXIT.couldNotRun)
  }
  if (error instanceof ConnectionError) {
    return failure(
      'E_NETWORK',
      `${error.message}: ${error.hint ?? 'check PHAROS_URL and that the server is up'}`,
    )
  }
  if (error instanceof ApiError) return failure('E_API', apiMessage(error))
  if (error instanceof UnreadableAnswer) {
    return failure('E_ANSWER', `${error.message}: check PHAROS_URL, and what stands between here and the API`)
  }
  if (isDatabaseError(error))
    return failure('E_STATE', `the state cannot be used: ${databaseFailureText(error)}`)
  if (error instanceof UnwritableFile) return failure('E_FILE', error.message)
  if (isFileError(error)) return failure('E_FILE', fileErrorText(error))
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return failure('E_INTERNAL', `this is a fault in pharos: ${text}`)
}

function apiMessage(error: ApiError): string {
  const text = `the API answered ${error.status}: ${error.message}`
  if (error.code === 'unauthorized') return `${text}: check PHAROS_API_KEY, it may have been revoked`
  if (error.code === 'forbidden') return `${text}: the plan of the organisation may not include API access`
  return text
}
