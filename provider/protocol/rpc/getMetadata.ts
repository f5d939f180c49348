import type { MessageOf } from '../wire/message.ts'
import type { getMetadata as messages } from '../wire/tfplugin6.ts'
import type { Call } from './call.ts'
import { SERVER_CAPABILITIES } from './getProviderSchema.ts'

type Response = Partial<MessageOf<typeof messages.response>>

/** Names of resources, data sources, functions and others, for programs that need no schema. */
export async function getMetadata(_request: object, { session }: Call): Promise<Response> {
  const { resources, dataSources, functions, lists, actions } = session.provider
  return {
    serverCapabilities: SERVER_CAPABILITIES,
    resources: [...resources.keys()].map((typeName) => ({ typeName })),
    dataSources: [...dataSources.keys()].map((typeName) => ({ typeName })),
    listResources: [...lists.keys()].map((typeName) => ({ typeName })),
    actions: [...actions.keys()].map((typeName) => ({ typeName })),
    functions: [...functions.keys()].map((name) => ({ name })),
  }
}
