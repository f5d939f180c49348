/** The RPCs of a provider, each with its path and the codecs of its messages. */
import type { Message } from '../wire/message.ts'
import {
  applyResourceChange,
  callFunction,
  configureProvider,
  getFunctions,
  getMetadata,
  getProviderSchema,
  getResourceIdentitySchemas,
  importResourceState,
  invokeAction,
  listResource,
  planAction,
  planResourceChange,
  readDataSource,
  readResource,
  stopProvider,
  upgradeResourceIdentity,
  upgradeResourceState,
  validateActionConfig,
  validateDataResourceConfig,
  validateListResourceConfig,
  validateProviderConfig,
  validateResourceConfig,
} from '../wire/tfplugin6.ts'

interface Codecs<Request, Response> {
  readonly request: Message<Request>
  readonly response: Message<Response>
}

const rpc = <Request, Response>(name: string, { request, response }: Codecs<Request, Response>) => ({
  path: `/tfplugin6.Provider/${name}`,
  requestSerialize: (value: Partial<Request>) => request.encode(value),
  requestDeserialize: (bytes: Uint8Array) => request.decode(bytes),
  responseSerialize: (value: Partial<Response>) => response.encode(value),
  responseDeserialize: (bytes: Uint8Array) => response.decode(bytes),
})

/** The RPCs of the provider that are served. */
export const PROVIDER_SERVICE = {
  GetMetadata: rpc('GetMetadata', getMetadata),
  GetProviderSchema: rpc('GetProviderSchema', getProviderSchema),
  ValidateProviderConfig: rpc('ValidateProviderConfig', validateProviderConfig),
  ConfigureProvider: rpc('ConfigureProvider', configureProvider),
  ValidateResourceConfig: rpc('ValidateResourceConfig', validateResourceConfig),
  ValidateDataResourceConfig: rpc('ValidateDataResourceConfig', validateDataResourceConfig),
  UpgradeResourceState: rpc('UpgradeResourceState', upgradeResourceState),
  ReadResource: rpc('ReadResource', readResource),
  PlanResourceChange: rpc('PlanResourceChange', planResourceChange),
  ApplyResourceChange: rpc('ApplyResourceChange', applyResourceChange),
  ImportResourceState: rpc('ImportResourceState', importResourceState),
  ReadDataSource: rpc('ReadDataSource', readDataSource),
  GetResourceIdentitySchemas: rpc('GetResourceIdentitySchemas', getResourceIdentitySchemas),
  UpgradeResourceIdentity: rpc('UpgradeResourceIdentity', upgradeResourceIdentity),
  ValidateListResourceConfig: rpc('ValidateListResourceConfig', validateListResourceConfig),
  ListResource: rpc('ListResource', listResource),
  ValidateActionConfig: rpc('ValidateActionConfig', validateActionConfig),
  PlanAction: rpc('PlanAction', planAction),
  InvokeAction: rpc('InvokeAction', invokeAction),
  GetFunctions: rpc('GetFunctions', getFunctions),
  CallFunction: rpc('CallFunction', callFunction),
  StopProvider: rpc('StopProvider', stopProvider),
}
