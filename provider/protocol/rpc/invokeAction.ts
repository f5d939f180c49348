import { failure } from '../authoring/diagnostics.ts'
import { containsUnknown } from '../values/equality.ts'
import { createReporter, type StreamRpc } from './call.ts'
import { configuredContext, lookUp } from './handlers.ts'
import { encodeDiagnostics, requireObject } from './wireValue.ts'

/** Runs an action. Yields an event for each line of progress, and a last one with the diagnostics. */
export const invokeAction: StreamRpc<'InvokeAction'> = async function* (request, call) {
  const { typeName } = request
  const reporter = createReporter(call)
  const lines: string[] = []
  let wake = (): void => undefined
  let hasEnded = false
  const progress = (message: string): void => {
    lines.push(message)
    wake()
  }
  const running = reporter
    .attempt(`Running action.${typeName}`, async () => {
      const { handlers, type } = lookUp(call.session.provider.actions, typeName)
      const config = requireObject(type, request.config, 'configuration')
      if (containsUnknown(config)) {
        throw failure('The action cannot run yet', 'Its configuration has unknown values.')
      }
      await handlers.invoke({ ...configuredContext(call, reporter), config, progress })
    })
    .finally(() => {
      hasEnded = true
      wake()
    })
  while (!hasEnded || lines.length > 0) {
    const message = lines.shift()
    if (message !== undefined) yield { progress: { message } }
    else
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  await running
  yield { completed: { diagnostics: encodeDiagnostics(reporter.diagnostics) } }
}
