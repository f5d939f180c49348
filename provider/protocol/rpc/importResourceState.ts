import { DiagnosticError, errorAt } from '../authoring/diagnostics.ts'
import type { AnyResource, Typed } from '../authoring/provider.ts'
import { overlay } from '../state/handlerResult.ts'
import { withoutWriteOnly } from '../state/writeOnly.ts'
import { withoutUnknown } from '../values/conform.ts'
import { isObject } from '../values/equality.ts'
import type { MessageOf } from '../wire/message.ts'
import type { importResourceState as messages } from '../wire/tfplugin6.ts'
import { type Call, createReporter, responseOf } from './call.ts'
import { configuredContext, lookUp, returnedState } from './handlers.ts'
import { identityOf, identityTypes } from './identity.ts'
import { decodeObject, encodeValue } from './wireValue.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/** The stub of the object with the given identity; `undefined` for an import by id. */
function importedByIdentity(resource: Typed<AnyResource<unknown>>, { typeName, identity }: Request) {
  const types = identityTypes(resource)
  const given = types === undefined ? null : decodeObject({ object: types }, identity?.data)
  if (given === null) return undefined
  const stub = withoutUnknown(overlay(resource.handlers.schema.attributes, given, {}))
  const state = isObject(stub) ? stub : null
  return {
    typeName,
    state: encodeValue(resource.type, state),
    private: new Uint8Array(0),
    identity: identityOf(resource, state),
  }
}

/**
 * A stub of an existing object: the attributes that the handler returns, and null for the others. Terraform then reads
 * the object.
 */
export async function importResourceState(request: Request, call: Call): Promise<Response> {
  const { typeName } = request
  const reporter = createReporter(call)
  const imported = await reporter.attempt(`Importing ${typeName}`, async () => {
    const resource = lookUp(call.session.provider.resources, typeName)
    const { handlers, type } = resource
    const { attributes } = handlers.schema
    const named = importedByIdentity(resource, request)
    if (named !== undefined) return named
    if (handlers.import === undefined) {
      throw new DiagnosticError(
        errorAt(undefined, `${typeName} cannot be imported`, 'The resource has no import handler.'),
      )
    }
    const result = await handlers.import({ ...configuredContext(call, reporter), id: request.id })
    const returned = returnedState({ reporter, name: typeName, attributes, severity: 'error' }, result.state)
    const stub = withoutUnknown(overlay(attributes, returned, {}))
    const state = isObject(stub) ? withoutWriteOnly(attributes, stub) : null
    return {
      typeName,
      state: encodeValue(type, state),
      private: result.private ?? new Uint8Array(0),
      identity: identityOf(resource, state),
    }
  })
  return responseOf(reporter, imported && { importedResources: [imported] }, { importedResources: [] })
}
