/**
 * The messages of Terraform's plugin protocol 6 that this framework uses.
 *
 * Field numbers are those of the protocol (package `tfplugin6`, up to version 6.10, which Terraform 1.14 uses). Fields
 * that are not used (deferral, legacy types) are omitted: a reader skips them.
 */
import {
  bool,
  bytes,
  int64,
  type MessageOf,
  mapOf,
  message,
  nested,
  presentInt64,
  repeated,
  string,
} from './message.ts'
import {
  attributePath,
  clientCapabilities,
  diagnostic,
  dynamicValue,
  empty,
  functionSignature,
  identityData,
  schema,
  serverCapabilities,
} from './messageParts.ts'

const named = message({ typeName: string(1) })
const diagnosticsAt = (id: number) => message({ diagnostics: repeated(id, diagnostic) })

const identityAttribute = message({
  name: string(1),
  type: bytes(2),
  requiredForImport: bool(3),
  description: string(5),
})

/** A request about a configuration of a data source, list or action, of which the protocol calls the type `action_type`. */
const typedConfig = message({ typeName: string(1), config: nested(2, dynamicValue) })
const stored = message({ json: bytes(1) })

/** The messages of each RPC that is served, by its name in the protocol. */
export const RPCS = {
  GetMetadata: {
    request: empty,
    response: message({
      serverCapabilities: nested(1, serverCapabilities),
      diagnostics: repeated(2, diagnostic),
      dataSources: repeated(3, named),
      resources: repeated(4, named),
      functions: repeated(5, message({ name: string(1) })),
      listResources: repeated(7, named),
      actions: repeated(9, named),
    }),
  },
  GetProviderSchema: {
    request: empty,
    response: message({
      provider: nested(1, schema),
      resourceSchemas: mapOf(2, schema),
      dataSourceSchemas: mapOf(3, schema),
      diagnostics: repeated(4, diagnostic),
      serverCapabilities: nested(6, serverCapabilities),
      functions: mapOf(7, functionSignature),
      listResourceSchemas: mapOf(9, schema),
      actionSchemas: mapOf(11, message({ schema: nested(1, schema) })),
    }),
  },
  GetResourceIdentitySchemas: {
    request: empty,
    response: message({
      identitySchemas: mapOf(1, message({ version: int64(1), attributes: repeated(2, identityAttribute) })),
      diagnostics: repeated(2, diagnostic),
    }),
  },
  UpgradeResourceIdentity: {
    request: message({
      typeName: string(1),
      version: int64(2),
      rawIdentity: nested(3, stored),
    }),
    response: message({ upgradedIdentity: nested(1, identityData), diagnostics: repeated(2, diagnostic) }),
  },
  ValidateProviderConfig: {
    request: message({ config: nested(1, dynamicValue) }),
    response: diagnosticsAt(2),
  },
  ValidateResourceConfig: {
    request: message({
      typeName: string(1),
      config: nested(2, dynamicValue),
      clientCapabilities: nested(3, clientCapabilities),
    }),
    response: diagnosticsAt(1),
  },
  ValidateDataResourceConfig: {
    request: typedConfig,
    response: diagnosticsAt(1),
  },
  UpgradeResourceState: {
    request: message({
      typeName: string(1),
      version: int64(2),
      rawState: nested(3, stored),
    }),
    response: message({ upgradedState: nested(1, dynamicValue), diagnostics: repeated(2, diagnostic) }),
  },
  ConfigureProvider: {
    request: message({ terraformVersion: string(1), config: nested(2, dynamicValue) }),
    response: diagnosticsAt(1),
  },
  ReadResource: {
    request: message({
      typeName: string(1),
      currentState: nested(2, dynamicValue),
      private: bytes(3),
    }),
    response: message({
      newState: nested(1, dynamicValue),
      diagnostics: repeated(2, diagnostic),
      private: bytes(3),
      newIdentity: nested(5, identityData),
    }),
  },
  PlanResourceChange: {
    request: message({
      typeName: string(1),
      priorState: nested(2, dynamicValue),
      proposedNewState: nested(3, dynamicValue),
      config: nested(4, dynamicValue),
      priorPrivate: bytes(5),
    }),
    response: message({
      plannedState: nested(1, dynamicValue),
      requiresReplace: repeated(2, attributePath),
      plannedPrivate: bytes(3),
      diagnostics: repeated(4, diagnostic),
      plannedIdentity: nested(7, identityData),
    }),
  },
  ApplyResourceChange: {
    request: message({
      typeName: string(1),
      priorState: nested(2, dynamicValue),
      plannedState: nested(3, dynamicValue),
      config: nested(4, dynamicValue),
      plannedPrivate: bytes(5),
    }),
    response: message({
      newState: nested(1, dynamicValue),
      private: bytes(2),
      diagnostics: repeated(3, diagnostic),
      newIdentity: nested(5, identityData),
    }),
  },
  ImportResourceState: {
    request: message({
      typeName: string(1),
      id: string(2),
      identity: nested(4, identityData),
    }),
    response: message({
      importedResources: repeated(
        1,
        message({
          typeName: string(1),
          state: nested(2, dynamicValue),
          private: bytes(3),
          identity: nested(4, identityData),
        }),
      ),
      diagnostics: repeated(2, diagnostic),
    }),
  },
  ReadDataSource: {
    request: typedConfig,
    response: message({ state: nested(1, dynamicValue), diagnostics: repeated(2, diagnostic) }),
  },
  ValidateListResourceConfig: {
    request: typedConfig,
    response: diagnosticsAt(1),
  },
  /** The response is one event of a stream: an object, or diagnostics alone. */
  ListResource: {
    request: message({
      typeName: string(1),
      config: nested(2, dynamicValue),
      includeResourceObject: bool(3),
      limit: int64(4),
    }),
    response: message({
      identity: nested(1, identityData),
      displayName: string(2),
      resourceObject: nested(3, dynamicValue),
      diagnostics: repeated(4, diagnostic),
    }),
  },
  ValidateActionConfig: { request: typedConfig, response: diagnosticsAt(1) },
  PlanAction: { request: typedConfig, response: diagnosticsAt(1) },
  /** The response is one event of a stream with one of its parts. */
  InvokeAction: {
    request: typedConfig,
    response: message({
      progress: nested(1, message({ message: string(1) })),
      completed: nested(2, diagnosticsAt(1)),
    }),
  },
  GetFunctions: {
    request: empty,
    response: message({ functions: mapOf(1, functionSignature), diagnostics: repeated(2, diagnostic) }),
  },
  CallFunction: {
    request: message({ name: string(1), arguments: repeated(2, dynamicValue) }),
    response: message({
      result: nested(1, dynamicValue),
      error: nested(2, message({ text: string(1), argument: presentInt64(2) })),
    }),
  },
  StopProvider: { request: empty, response: message({ error: string(1) }) },
}
/** The name of an RPC that is served. */
export type RpcName = keyof typeof RPCS

type Messages = typeof RPCS
/** The decoded request of an RPC. */
export type RequestOf<Name extends RpcName> = MessageOf<Messages[Name]['request']>
/** A response of an RPC, or one event of its stream. */
export type ResponseOf<Name extends RpcName> = Partial<MessageOf<Messages[Name]['response']>>

/** The path of a method of the provider. Pure. */
export function rpcPath(name: string): string {
  return `/tfplugin6.Provider/${name}`
}
