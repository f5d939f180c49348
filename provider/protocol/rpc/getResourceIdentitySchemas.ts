import { encodeType } from '../values/type.ts'
import type { MessageOf } from '../wire/message.ts'
import type { getResourceIdentitySchemas as messages } from '../wire/tfplugin6.ts'
import type { Call } from './call.ts'
import { identityTypes } from './identity.ts'

type Response = Partial<MessageOf<typeof messages.response>>

/** The identity schemas of resources, for Terraform 1.12 and later. */
export async function getResourceIdentitySchemas(_request: object, { session }: Call): Promise<Response> {
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
