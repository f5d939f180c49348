/** The functions for the RPCs of a provider. */
import type { Log } from '../authoring/log.ts'
import type { Provider } from '../authoring/provider.ts'
import type { Method } from '../grpc/server.ts'
import { GrpcError, STATUS } from '../grpc/status.ts'
import { applyResourceChange } from '../rpc/applyResourceChange.ts'
import type { Rpc, Session, StreamRpc } from '../rpc/call.ts'
import { callFunction } from '../rpc/callFunction.ts'
import { configureProvider } from '../rpc/configureProvider.ts'
import { DECLINED_RPCS, declinedText } from '../rpc/declined.ts'
import { getFunctions } from '../rpc/getFunctions.ts'
import { getMetadata } from '../rpc/getMetadata.ts'
import { getProviderSchema } from '../rpc/getProviderSchema.ts'
import { getResourceIdentitySchemas } from '../rpc/getResourceIdentitySchemas.ts'
import { importResourceState } from '../rpc/importResourceState.ts'
import { invokeAction } from '../rpc/invokeAction.ts'
import { listResource } from '../rpc/listResource.ts'
import { planAction } from '../rpc/planAction.ts'
import { planResourceChange } from '../rpc/planResourceChange.ts'
import { readDataSource } from '../rpc/readDataSource.ts'
import { readResource } from '../rpc/readResource.ts'
import { stopProvider } from '../rpc/stopProvider.ts'
import { upgradeResourceIdentity } from '../rpc/upgradeResourceIdentity.ts'
import { upgradeResourceState } from '../rpc/upgradeResourceState.ts'
import {
  validateActionConfig,
  validateDataResourceConfig,
  validateListResourceConfig,
  validateProviderConfig,
  validateResourceConfig,
} from '../rpc/validateConfigs.ts'
import type { Message } from '../wire/message.ts'
import { RPCS, type RequestOf, type ResponseOf, type RpcName, rpcPath } from '../wire/tfplugin6.ts'
import type { CallTable } from './callTable.ts'
import { healthMethods } from './health.ts'
import type { Methods } from './server.ts'

/** The function of each RPC. */
const FUNCTIONS: { readonly [Name in RpcName]: Rpc<Name> | StreamRpc<Name> } = {
  GetMetadata: getMetadata,
  GetProviderSchema: getProviderSchema,
  ValidateProviderConfig: validateProviderConfig,
  ConfigureProvider: configureProvider,
  ValidateResourceConfig: validateResourceConfig,
  ValidateDataResourceConfig: validateDataResourceConfig,
  UpgradeResourceState: upgradeResourceState,
  ReadResource: readResource,
  PlanResourceChange: planResourceChange,
  ApplyResourceChange: applyResourceChange,
  ImportResourceState: importResourceState,
  ReadDataSource: readDataSource,
  GetResourceIdentitySchemas: getResourceIdentitySchemas,
  UpgradeResourceIdentity: upgradeResourceIdentity,
  ValidateListResourceConfig: validateListResourceConfig,
  ListResource: listResource,
  ValidateActionConfig: validateActionConfig,
  PlanAction: planAction,
  InvokeAction: invokeAction,
  GetFunctions: getFunctions,
  CallFunction: callFunction,
  StopProvider: stopProvider,
}

/** Dependencies of the methods of a provider. */
interface ProviderParts {
  readonly log: Log
  readonly calls: CallTable
  /** Aborts to end streams that would otherwise remain open. */
  readonly ending: AbortSignal
}

/** Creates the methods of one provider. */
export type ServedProvider = (parts: ProviderParts) => Methods

/** Every method of `provider`, for `serveProvider`. */
export function served(provider: Provider): ServedProvider {
  return ({ log, calls, ending }) => {
    const session: Session = { provider, log, configured: undefined, stop: calls.stop }
    // True because these are the keys of RPCS.
    const names = Object.keys(RPCS) as RpcName[]
    const methods = names.map((name): [string, Method] => [rpcPath(name), methodOf(name, session, calls)])
    return new Map([...healthMethods(ending), ...declinedMethods(provider.name), ...methods])
  }
}

/** The codecs of each RPC, for a name that is known at run time only. */
const CODECS: {
  readonly [Name in RpcName]: {
    readonly request: Message<RequestOf<Name>>
    readonly response: Pick<Message<ResponseOf<Name>>, 'encode'>
  }
} = RPCS

function methodOf<Name extends RpcName>(name: Name, session: Session, calls: CallTable): Method {
  const { request, response } = CODECS[name]
  const run: Rpc<Name> | StreamRpc<Name> = FUNCTIONS[name]
  return {
    respond: async function* (bytes, cancelled) {
      // The next Terraform configures a process that outlived the last one; an earlier stop does not apply to it.
      if (name === 'ConfigureProvider') calls.resume()
      const { call, abort, end } = calls.open(session)
      cancelled.addEventListener('abort', abort)
      try {
        const responses = run(request.decode(bytes), call)
        for await (const part of 'then' in responses ? [responses] : responses) yield response.encode(part)
      } catch (error) {
        throw failure(rpcPath(name), error, session.log)
      } finally {
        cancelled.removeEventListener('abort', abort)
        end()
      }
    },
  }
}

/** The error for an RPC whose function throws. Exceptions of handlers never reach it: they become diagnostics. */
function failure(path: string, error: unknown, log: Log): GrpcError {
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error))
  log.error(`${path} failed`, { message, stack })
  return new GrpcError(STATUS.internal, `${path} failed: ${message}`)
}

/** The RPCs that are not served. Each responds with UNIMPLEMENTED and names the missing feature. */
function declinedMethods(providerName: string): Methods {
  const decline = (reason: string): Method => ({
    respond: () => {
      throw new GrpcError(STATUS.unimplemented, reason)
    },
  })
  return new Map(DECLINED_RPCS.map((name) => [rpcPath(name), decline(declinedText(providerName, name))]))
}
