import { encodeType } from '../values/type.ts'
import type { Rpc } from './call.ts'
import { identityTypes } from './identity.ts'

/** The identity schemas of resources, for Terraform 1.12 and later. */
export const getResourceIdentitySchemas: Rpc<'GetResourceIdentitySchemas'> = async (
  _request,
  { session },
) => {
  const entries = [...session.provider.resources].flatMap(([typeName, resource]) => {
    const types = identityTypes(resource)
    if (types === undefined) return []
    const attributes = Object.entries(types).map(([name, type]) => ({
      name,
      type: encodeType(type),
      requiredForImport: true,
      description: resource.handlers.schema.attributes[name]?.description ?? '',
    }))
    return [[typeName, { version: 0, attributes }] as const]
  })
  return { identitySchemas: new Map(entries) }
}
