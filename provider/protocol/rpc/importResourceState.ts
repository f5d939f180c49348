import { failure } from '../authoring/diagnostics.ts'
import { type Rpc, respond } from './call.ts'
import { configuredContext, lookUp, savedState } from './handlers.ts'
import { identityOf, identityTypes } from './identity.ts'
import { decodeObject, encodeValue } from './wireValue.ts'

/**
 * A stub of an existing object: the attributes of the given identity, or those that the handler returns for an id, and
 * null for the others. Terraform then reads the object.
 */
export const importResourceState: Rpc<'ImportResourceState'> = ({ typeName, id, identity }, call) =>
  respond({ call, what: `Importing ${typeName}` }, async (reporter) => {
    const resource = lookUp(call.session.provider.resources, typeName)
    const { handlers, type } = resource
    const types = identityTypes(resource)
    const identified = types === undefined ? null : decodeObject({ object: types }, identity?.data)
    if (identified === null && handlers.import === undefined) {
      throw failure(`${typeName} cannot be imported`, 'The resource has no import handler.')
    }
    const result =
      identified === null
        ? await handlers.import?.({ ...configuredContext(call, reporter), id })
        : { state: identified }
    const { attributes } = handlers.schema
    const state = savedState({ reporter, name: typeName, attributes }, result?.state ?? {})
    const imported = {
      typeName,
      state: encodeValue(type, state),
      private: result?.private ?? new Uint8Array(0),
      identity: identityOf(resource, state),
    }
    return { importedResources: [imported] }
  })
