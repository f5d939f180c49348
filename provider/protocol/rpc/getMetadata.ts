import type { Rpc } from './call.ts'
import { SERVER_CAPABILITIES } from './getProviderSchema.ts'

/** Names of resources, data sources, functions and others, for programs that need no schema. */
export const getMetadata: Rpc<'GetMetadata'> = async (_request, { session }) => {
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
