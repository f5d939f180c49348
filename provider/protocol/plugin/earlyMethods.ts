/**
 * The methods of a plugin that do not need its provider: those of go-plugin, and GetProviderSchema if the response is
 * known.
 */
import type { Method } from '../grpc/server.ts'
import { PATHS } from './paths.ts'

interface EarlyParts {
  readonly schema: Uint8Array | undefined
  readonly ending: AbortSignal
  onShutdown(): void
}

/** An empty message. */
const NOTHING = new Uint8Array(0)

export function earlyMethods({ schema, ending, onShutdown }: EarlyParts): ReadonlyMap<string, Method> {
  const methods = new Map<string, Method>([
    [PATHS.stdio, { respond: (_, cancelled) => emptyStream(cancelled, ending) }],
    [PATHS.broker, { respond: (_, cancelled) => emptyStream(cancelled, ending), isRequestStream: true }],
    [
      PATHS.shutdown,
      oneMessage(() => {
        setImmediate(onShutdown)
        return NOTHING
      }),
    ],
  ])
  if (schema !== undefined)
    methods.set(
      PATHS.schema,
      oneMessage(() => schema),
    )
  return methods
}

/** The method whose response is the message that `respond` returns. */
export function oneMessage(respond: (request: Uint8Array) => Uint8Array): Method {
  return {
    respond: async function* (request) {
      yield respond(request)
    },
  }
}

/** A stream without messages that ends when one of `signals` aborts. */
export async function* emptyStream(...signals: readonly AbortSignal[]): AsyncGenerator<never> {
  if (signals.some(({ aborted }) => aborted)) return
  await new Promise<void>((resolve) => {
    // Listeners are removed from every signal: a process that outlives one Terraform serves many connections.
    const end = (): void => {
      for (const signal of signals) signal.removeEventListener('abort', end)
      resolve()
    }
    for (const signal of signals) signal.addEventListener('abort', end)
  })
}
