import { createReporter, type StreamRpc } from './call.ts'
import { configuredContext, lookUp, savedState } from './handlers.ts'
import { identityOf } from './identity.ts'
import { encodeDiagnostics, encodeValue, requireObject } from './wireValue.ts'

/**
 * The objects of a list, one event for each, up to the caller's limit (0: no limit). Diagnostics about the whole list
 * are a separate event: warnings come first, and an error replaces all other events.
 */
export const listResource: StreamRpc<'ListResource'> = async function* (request, call) {
  const { typeName, limit } = request
  const reporter = createReporter(call)
  const events = await reporter.attempt(`Listing ${typeName}`, async () => {
    const { provider } = call.session
    const { handlers, type } = lookUp(provider.lists, typeName)
    const resource = lookUp(provider.resources, typeName)
    const { attributes } = resource.handlers.schema
    const config = requireObject(type, request.config, 'configuration')
    const found = await handlers.list({ ...configuredContext(call, reporter), config })
    const wanted = [...found].slice(0, limit === 0 ? undefined : limit)
    return wanted.map(({ displayName, state }) => {
      const object = savedState({ reporter, name: `list.${typeName}`, attributes }, state)
      return {
        identity: identityOf(resource, object),
        displayName,
        ...(request.includeResourceObject ? { resourceObject: encodeValue(resource.type, object) } : {}),
      }
    })
  })
  const diagnostics = encodeDiagnostics(reporter.diagnostics)
  if (diagnostics.length > 0) yield { diagnostics }
  yield* events ?? []
}
