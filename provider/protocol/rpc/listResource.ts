import type { ListedObject } from '../authoring/listing.ts'
import type { AnyResource, Typed } from '../authoring/provider.ts'
import { overlay } from '../state/handlerResult.ts'
import { withoutWriteOnly } from '../state/writeOnly.ts'
import { withoutUnknown } from '../values/conform.ts'
import { isObject } from '../values/equality.ts'
import type { ObjectValue } from '../values/value.ts'
import type { MessageOf } from '../wire/message.ts'
import type { listResource as messages } from '../wire/tfplugin6.ts'
import { type Call, createReporter, type Reporter } from './call.ts'
import { configuredContext, lookUp, returnedState } from './handlers.ts'
import { identityOf } from './identity.ts'
import { encodeDiagnostics, encodeValue, requireObject } from './wireValue.ts'

type Request = MessageOf<typeof messages.request>
type Event = Partial<MessageOf<typeof messages.response>>

/** The complete listed object, with null for attributes that the list does not return. */
function objectOf(
  { name, handlers }: Typed<AnyResource<unknown>>,
  { state }: ListedObject,
  reporter: Reporter,
): ObjectValue {
  const { attributes } = handlers.schema
  const origin = { reporter, name: `list.${name}`, attributes, severity: 'error' } as const
  const whole = withoutUnknown(overlay(attributes, returnedState(origin, state), {}))
  return withoutWriteOnly(attributes, isObject(whole) ? whole : {})
}

/**
 * The objects of a list, one event for each, up to the caller's limit (0: no limit). Diagnostics about the whole list
 * are a separate event: warnings come first, and an error replaces all other events.
 */
export async function listResource(request: Request, call: Call): Promise<readonly Event[]> {
  const { typeName, limit } = request
  const reporter = createReporter(call)
  const events = await reporter.attempt(`Listing ${typeName}`, async () => {
    const { provider } = call.session
    const { handlers, type } = lookUp(provider.lists, typeName)
    const resource = lookUp(provider.resources, typeName)
    const config = requireObject(type, request.config, 'configuration')
    const found = await handlers.list({ ...configuredContext(call, reporter), config })
    const wanted = [...found].slice(0, limit === 0 ? undefined : limit)
    return wanted.map((listed): Event => {
      const object = objectOf(resource, listed, reporter)
      return {
        identity: identityOf(resource, object),
        displayName: listed.displayName,
        ...(request.includeResourceObject ? { resourceObject: encodeValue(resource.type, object) } : {}),
      }
    })
  })
  const said = encodeDiagnostics(reporter.diagnostics)
  return [...(said.length === 0 ? [] : [{ diagnostics: said }]), ...(events ?? [])]
}
