/** Common parts of all RPCs. */
import type { Awaitable } from '../authoring/context.ts'
import { type Diagnostic, DiagnosticError, errorAt, hasErrors } from '../authoring/diagnostics.ts'
import type { Log } from '../authoring/log.ts'
import type { Provider } from '../authoring/provider.ts'
import type { WireDiagnostic } from '../wire/messageParts.ts'
import type { RequestOf, ResponseOf, RpcName } from '../wire/tfplugin6.ts'
import { encodeDiagnostics } from './wireValue.ts'

/** State shared by the RPCs of one process. */
export interface Session {
  readonly provider: Provider
  readonly log: Log
  /** The result of `configure`, if it has been called. */
  configured: { readonly client: unknown } | undefined
  /** Aborts every call in progress, and later ones until the next ConfigureProvider. */
  stop(): void
}

/** One call in progress. */
export interface Call {
  readonly session: Session
  readonly signal: AbortSignal
  /** Aborts when Terraform is interrupted, also after the end of this call. */
  readonly stopped: AbortSignal
  /**
   * Rejects when an uncaught exception occurs during the call. Its handler may then never end, and Terraform would wait
   * for the response forever.
   */
  readonly crash: Promise<never>
}

/** The function of an RPC with one response. */
export type Rpc<Name extends RpcName> = (request: RequestOf<Name>, call: Call) => Promise<ResponseOf<Name>>

/** The function of an RPC whose response is a stream of events. */
export type StreamRpc<Name extends RpcName> = (
  request: RequestOf<Name>,
  call: Call,
) => AsyncIterable<ResponseOf<Name>>

/** Collects diagnostics and turns exceptions into them, so that an RPC always has a response. */
export interface Reporter {
  readonly diagnostics: Diagnostic[]
  report(diagnostic: Diagnostic): void
  /** Runs `work`. An exception or a crash becomes error diagnostics, and the result is `undefined`. */
  attempt<T>(what: string, work: () => T | Promise<T>): Promise<T | undefined>
  /** The same for work that contains an attempt, which handles a crash: its result is then still used. */
  around<T>(what: string, work: () => T | Promise<T>): Promise<T | undefined>
}

/** A reporter for one call. */
export function createReporter(call: Call): Reporter {
  const diagnostics: Diagnostic[] = []
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic)
  const around: Reporter['around'] = async (what, work) => {
    try {
      return await work()
    } catch (error) {
      for (const diagnostic of describeException(call, what, error)) report(diagnostic)
      return undefined
    }
  }
  const attempt: Reporter['attempt'] = (what, work) => around(what, () => Promise.race([work(), call.crash]))
  return { diagnostics, report, attempt, around }
}

function describeException({ session, signal }: Call, what: string, error: unknown): readonly Diagnostic[] {
  if (error instanceof DiagnosticError && hasErrors(error.diagnostics)) return error.diagnostics
  if (signal.aborted) return [errorAt(undefined, `${what} was stopped`, 'Terraform was interrupted.')]
  const message = error instanceof Error ? error.message : String(error)
  session.log.error(`${what} threw an exception`, {
    message,
    stack: error instanceof Error ? (error.stack ?? '') : '',
  })
  return [
    errorAt(
      undefined,
      `${what} failed unexpectedly`,
      `${message}\n\nThis is a bug in the provider ${session.provider.name}. ` +
        'TF_LOG_PROVIDER=error shows where it happened.',
    ),
  ]
}

/**
 * The response of an RPC with the diagnostics that `work` reports: its result, or `otherwise` when it throws or reports
 * an error. `what` names it in messages, as in "Reading pharos_service".
 */
export async function respond<Outcome extends object, Otherwise extends object = object>(
  { call, what, otherwise }: { readonly call: Call; readonly what: string; readonly otherwise?: Otherwise },
  work: (reporter: Reporter) => Awaitable<Outcome | undefined>,
): Promise<(Outcome | Otherwise | object) & { readonly diagnostics: readonly WireDiagnostic[] }> {
  const reporter = createReporter(call)
  const outcome = await reporter.attempt(what, () => work(reporter))
  const { diagnostics } = reporter
  const response = outcome === undefined || hasErrors(diagnostics) ? otherwise : outcome
  return { ...response, diagnostics: encodeDiagnostics(diagnostics) }
}
