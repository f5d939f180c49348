/** The gRPC services of a plugin, as grpc-js wants them: method definitions without generated code. */
import type { ServiceDefinition } from '@grpc/grpc-js'
import { connInfo, healthCheck, stdioData } from '../wire/goplugin.ts'
import type { Message } from '../wire/message.ts'
import { empty } from '../wire/messageParts.ts'
import {
  applyResourceChange,
  callFunction,
  configureProvider,
  getFunctions,
  getMetadata,
  getProviderSchema,
  getResourceIdentitySchemas,
  importResourceState,
  listResource,
  planResourceChange,
  readDataSource,
  readResource,
  stopProvider,
  upgradeResourceIdentity,
  upgradeResourceState,
  validateDataResourceConfig,
  validateListResourceConfig,
  validateProviderConfig,
  validateResourceConfig,
} from '../wire/tfplugin6.ts'

interface Codecs<Request, Response> {
  readonly request: Message<Request>
  readonly response: Message<Response>
}

/** How a method's messages flow. */
type Flow = 'unary' | 'serverStream' | 'clientStream' | 'bidirectional'

function method<Request, Response>(
  path: string,
  { request, response }: Codecs<Request, Response>,
  flow: Flow = 'unary',
) {
  return {
    path,
    requestStream: flow === 'clientStream' || flow === 'bidirectional',
    responseStream: flow === 'serverStream' || flow === 'bidirectional',
    requestSerialize: (value: Partial<Request>) => request.encode(value),
    requestDeserialize: (bytes: Buffer) => request.decode(bytes),
    responseSerialize: (value: Partial<Response>) => response.encode(value),
    responseDeserialize: (bytes: Buffer) => response.decode(bytes),
  }
}

const rpc = <Request, Response>(name: string, codecs: Codecs<Request, Response>, flow?: Flow) =>
  method(`/tfplugin6.Provider/${name}`, codecs, flow)

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
  ListResource: rpc('ListResource', listResource, 'serverStream'),
  GetFunctions: rpc('GetFunctions', getFunctions),
  CallFunction: rpc('CallFunction', callFunction),
  StopProvider: rpc('StopProvider', stopProvider),
}

const nothing = { request: empty, response: empty }

/** An RPC that is not served, whose messages are not looked at. */
export function declinedMethod(name: string) {
  return rpc(name, nothing)
}

/** With this service Terraform ends a plugin. */
export const CONTROLLER_SERVICE = {
  Shutdown: method('/plugin.GRPCController/Shutdown', nothing),
} satisfies ServiceDefinition

/** A stream of what the plugin would print. Nothing is printed, so it stays silent. */
export const STDIO_SERVICE = {
  StreamStdio: method(
    '/plugin.GRPCStdio/StreamStdio',
    { request: empty, response: stdioData },
    'serverStream',
  ),
} satisfies ServiceDefinition

/** Further connections between Terraform and a plugin. Providers make none. */
export const BROKER_SERVICE = {
  StartStream: method(
    '/plugin.GRPCBroker/StartStream',
    { request: connInfo, response: connInfo },
    'bidirectional',
  ),
} satisfies ServiceDefinition

export const HEALTH_SERVICE = {
  Check: method('/grpc.health.v1.Health/Check', healthCheck),
  Watch: method('/grpc.health.v1.Health/Watch', healthCheck, 'serverStream'),
} satisfies ServiceDefinition
