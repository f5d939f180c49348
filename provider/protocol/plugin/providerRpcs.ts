/** Which RPC of the provider is answered by which function. */
import {
  type Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import { applyResourceChange } from '../rpc/applyResourceChange.ts'
import type { Call, Session } from '../rpc/call.ts'
import { callFunction } from '../rpc/callFunction.ts'
import { configureProvider } from '../rpc/configureProvider.ts'
import { DECLINED_RPCS, DECLINED_STREAMS, declinedText } from '../rpc/declined.ts'
import { getFunctions } from '../rpc/getFunctions.ts'
import { getMetadata } from '../rpc/getMetadata.ts'
import { getProviderSchema } from '../rpc/getProviderSchema.ts'
import { getResourceIdentitySchemas } from '../rpc/getResourceIdentitySchemas.ts'
import { importResourceState } from '../rpc/importResourceState.ts'
import { listResource } from '../rpc/listResource.ts'
import { planResourceChange } from '../rpc/planResourceChange.ts'
import { readDataSource } from '../rpc/readDataSource.ts'
import { readResource } from '../rpc/readResource.ts'
import { stopProvider } from '../rpc/stopProvider.ts'
import { upgradeResourceIdentity } from '../rpc/upgradeResourceIdentity.ts'
import { upgradeResourceState } from '../rpc/upgradeResourceState.ts'
import { validateDataResourceConfig } from '../rpc/validateDataResourceConfig.ts'
import { validateListResourceConfig } from '../rpc/validateListResourceConfig.ts'
import { validateProviderConfig } from '../rpc/validateProviderConfig.ts'
import { validateResourceConfig } from '../rpc/validateResourceConfig.ts'
import type { CallTable } from './callTable.ts'
import { declinedMethod, PROVIDER_SERVICE as RPC } from './services.ts'

interface UnaryMethod<Request, Response> {
  readonly path: string
  requestDeserialize(bytes: Buffer): Request
  responseSerialize(value: Partial<Response>): Buffer
}

/** Has `method` answered by `run`, with a signal that aborts when the caller gives up. */
export type ServeUnary = <Request, Response>(
  method: UnaryMethod<Request, Response>,
  run: (request: Request, call: Call) => Promise<Partial<Response>>,
) => void

/** Registers methods at `server`. An exception of `run` itself, which handles its own, is answered INTERNAL. */
export function unaryServer(server: Server, session: Session, calls: CallTable): ServeUnary {
  return <Request, Response>(
    method: UnaryMethod<Request, Response>,
    run: (request: Request, call: Call) => Promise<Partial<Response>>,
  ) => {
    // A process that outlives one Terraform is configured by the next, whom an old stop does not concern.
    const before = method.path === RPC.ConfigureProvider.path ? calls.resume : (): void => undefined
    const handle = (
      grpcCall: ServerUnaryCall<Request, Partial<Response>>,
      answer: sendUnaryData<Partial<Response>>,
    ): void => {
      before()
      const { call, abort, end } = calls.open(session)
      grpcCall.on('cancelled', abort)
      const refuse = (error: Error): void => {
        session.log.error(`${method.path} failed`, { message: error.message, stack: error.stack ?? '' })
        answer({ code: status.INTERNAL, details: `${method.path} failed: ${error.message}` })
      }
      run(grpcCall.request, call)
        .then((response) => answer(null, response), refuse)
        .finally(end)
    }
    server.register(method.path, handle, method.responseSerialize, method.requestDeserialize, 'unary')
  }
}

/** Serves the provider's RPCs. */
export function serveProviderRpcs(serve: ServeUnary): void {
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
  serve(RPC.GetFunctions, getFunctions)
  serve(RPC.CallFunction, callFunction)
  serve(RPC.StopProvider, stopProvider)
}

/** Serves the RPC whose answer is a stream. */
export function serveList(server: Server, session: Session, calls: CallTable): void {
  const { path, responseSerialize, requestDeserialize } = RPC.ListResource
  type Request = ReturnType<typeof requestDeserialize>
  type Event = Parameters<typeof responseSerialize>[0]
  const handle = (stream: ServerWritableStream<Request, Event>): void => {
    const { call, abort, end } = calls.open(session)
    stream.on('cancelled', abort)
    listResource(stream.request, call)
      .then(
        (events) => {
          for (const event of events) stream.write(event)
          stream.end()
        },
        (error: Error) => void stream.emit('error', { code: status.INTERNAL, details: error.message }),
      )
      .finally(end)
  }
  server.register(path, handle, responseSerialize, requestDeserialize, 'serverStream')
}

/** Answers the RPCs that are not served with UNIMPLEMENTED and the name of the feature that is not offered. */
export function declineOtherRpcs(server: Server, providerName: string): void {
  for (const name of DECLINED_RPCS) {
    const { path, requestDeserialize, responseSerialize } = declinedMethod(name)
    const refusal = { code: status.UNIMPLEMENTED, details: declinedText(providerName, name) }
    const decline = (_call: object, answer: sendUnaryData<object>): void => answer(refusal)
    const declineStream = (call: ServerWritableStream<object, object>): void =>
      void call.emit('error', refusal)
    if (DECLINED_STREAMS.includes(name)) {
      server.register(path, declineStream, responseSerialize, requestDeserialize, 'serverStream')
    } else {
      server.register(path, decline, responseSerialize, requestDeserialize, 'unary')
    }
  }
}
