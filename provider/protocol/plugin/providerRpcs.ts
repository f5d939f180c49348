/** The functions for the RPCs of a provider. */
import type { Log } from '../authoring/log.ts'
import type { Provider } from '../authoring/provider.ts'
import type { Method } from '../grpc/server.ts'
import { GrpcError, STATUS } from '../grpc/status.ts'
import { applyResourceChange } from '../rpc/applyResourceChange.ts'
import type { Call, Session } from '../rpc/call.ts'
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
import { validateActionConfig } from '../rpc/validateActionConfig.ts'
import { validateDataResourceConfig } from '../rpc/validateDataResourceConfig.ts'
import { validateListResourceConfig } from '../rpc/validateListResourceConfig.ts'
import { validateProviderConfig } from '../rpc/validateProviderConfig.ts'
import { validateResourceConfig } from '../rpc/validateResourceConfig.ts'
import type { CallTable } from './callTable.ts'
import { healthMethods } from './health.ts'
import type { Methods } from './server.ts'
import { PROVIDER_SERVICE as RPC } from './services.ts'

interface Rpc<Request, Response> {
  readonly path: string
  requestDeserialize(bytes: Uint8Array): Request
  responseSerialize(value: Partial<Response>): Uint8Array
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
    const methods = new Map([...healthMethods(ending), ...declinedMethods(provider.name)])
    const serveAll = createServeAll(methods, session, calls)
    serveAll(RPC.InvokeAction, invokeAction)
    serveAll(RPC.ListResource, async function* (request, call) {
      yield* await listResource(request, call)
    })
    serveProviderRpcs((rpc, run) =>
      serveAll(rpc, async function* (request, call) {
        yield await run(request, call)
      }),
    )
    return methods
  }
}

/** Serves `rpc` with the stream of messages from `run`. */
type ServeAll = <Request, Response>(
  rpc: Rpc<Request, Response>,
  run: (request: Request, call: Call) => AsyncIterable<Partial<Response>>,
) => void

/** Serves `rpc` with the message from `run`. */
type Serve = <Request, Response>(
  rpc: Rpc<Request, Response>,
  run: (request: Request, call: Call) => Promise<Partial<Response>>,
) => void

/** Returns a function that adds RPCs to `methods`. */
function createServeAll(methods: Map<string, Method>, session: Session, calls: CallTable): ServeAll {
  return (rpc, run) => {
    // The next Terraform configures a process that outlived the last one; an earlier stop does not apply to it.
    const before = rpc.path === RPC.ConfigureProvider.path ? calls.resume : (): void => undefined
    async function* respond(request: Uint8Array, cancelled: AbortSignal): AsyncGenerator<Uint8Array> {
      before()
      const { call, abort, end } = calls.open(session)
      cancelled.addEventListener('abort', abort)
      try {
        for await (const response of run(rpc.requestDeserialize(request), call)) {
          yield rpc.responseSerialize(response)
        }
      } catch (error) {
        throw failure(rpc.path, error, session.log)
      } finally {
        cancelled.removeEventListener('abort', abort)
        end()
      }
    }
    methods.set(rpc.path, { respond })
  }
}

function serveProviderRpcs(serve: Serve): void {
  serve(RPC.GetMetadata, getMetadata)
  serve(RPC.GetProviderSchema, getProviderSchema)
  serve(RPC.ValidateProviderConfig, validateProviderConfig)
  serve(RPC.ConfigureProvider, configureProvider)
  serve(RPC.ValidateResourceConfig, validateResourceConfig)
  serve(RPC.ValidateDataResourceConfig, validateDataResourceConfig)
  serve(RPC.UpgradeResourceState, upgradeResourceState)
  serve(RPC.ReadResource, readResource)
  serve(RPC.PlanResourceChange, planResourceChange)
  serve(RPC.ApplyResourceChange, applyResourceChange)
  serve(RPC.ImportResourceState, importResourceState)
  serve(RPC.ReadDataSource, readDataSource)
  serve(RPC.GetResourceIdentitySchemas, getResourceIdentitySchemas)
  serve(RPC.UpgradeResourceIdentity, upgradeResourceIdentity)
  serve(RPC.ValidateListResourceConfig, validateListResourceConfig)
  serve(RPC.ValidateActionConfig, validateActionConfig)
  serve(RPC.PlanAction, planAction)
  serve(RPC.GetFunctions, getFunctions)
  serve(RPC.CallFunction, callFunction)
  serve(RPC.StopProvider, stopProvider)
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
  return new Map(
    DECLINED_RPCS.map((name) => [`/tfplugin6.Provider/${name}`, decline(declinedText(providerName, name))]),
  )
}
