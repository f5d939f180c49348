import {
  createService,
  deleteService,
  pauseService,
  replaceService,
  resumeService,
  type Service,
  type ServiceChange,
} from '../../domain/serviceChanges.ts'
import type { RenderedService, ServiceFacts } from '../../store/store.ts'
import { creationFingerprint } from './idempotencyKey.ts'
import type { AdmittedRequest, OperationResponse, ApiParts, Exchange, Operation } from './operation.ts'
import { readOrigin } from './originHeader.ts'
import { assertIfMatch, entityTag } from './preconditions.ts'
import { notFound, readId } from './resourceId.ts'
import { readServiceDefinition } from './serviceDefinition.ts'
import { serviceDeps } from './serviceDeps.ts'

/** The seven operations on services. Contract: Endpoints. */
export const serviceOperations: readonly Operation[] = [
  { method: 'GET', path: '/v1/services', takesBody: false, handle: list },
  { method: 'POST', path: '/v1/services', takesBody: true, responseBytesMax: ofDefinition, handle: create },
  { method: 'GET', path: '/v1/services/:id', takesBody: false, handle: read },
  {
    method: 'PATCH',
    path: '/v1/services/:id',
    takesBody: true,
    responseBytesMax: ofDefinition,
    handle: replace,
  },
  { method: 'DELETE', path: '/v1/services/:id', takesBody: false, handle: remove },
  {
    method: 'POST',
    path: '/v1/services/:id/pause',
    takesBody: false,
    responseBytesMax: ofService,
    handle: pause,
  },
  {
    method: 'POST',
    path: '/v1/services/:id/resume',
    takesBody: false,
    responseBytesMax: ofService,
    handle: resume,
  },
]

/** In a response an endpoint, or a sealed header, is at most three times as long as in the shortest request for it. */
const RESPONSE_PER_BODY = 3
/** Bytes of a service beyond its definition. */
const OWN_FIELDS_BYTES = 1_024

async function ofDefinition({ bodyBytes }: AdmittedRequest): Promise<number> {
  return OWN_FIELDS_BYTES + RESPONSE_PER_BODY * bodyBytes
}

/** Maximum size of the response to a pause or resume, which changes one field. */
async function ofService({ caller, id }: AdmittedRequest, { store }: ApiParts): Promise<number> {
  const service = await store.getService(caller.orgId, readId(id))
  return service === undefined ? 0 : OWN_FIELDS_BYTES + Buffer.byteLength(service.text)
}

async function list({ caller }: Exchange, { store }: ApiParts): Promise<OperationResponse> {
  const text = await store.renderServices(caller.orgId)
  if (text !== undefined) return { status: 200, text }
  return { status: 200, openLong: () => store.openServices(caller.orgId) }
}

async function read({ caller, id }: Exchange, { store }: ApiParts): Promise<OperationResponse> {
  return found(await store.getService(caller.orgId, readId(id)))
}

async function create(exchange: Exchange, parts: ApiParts): Promise<OperationResponse> {
  const request = await readServiceDefinition(exchange)
  const fingerprint = creationFingerprint(exchange, 'POST /v1/services', request)
  const origin = readOrigin(exchange, parts.environment.nowMs())
  const created = await parts.store.createService(exchange.caller.orgId, fingerprint, (facts) => ({
    ...createService(request, serviceDeps(facts, parts)),
    origin,
  }))
  return { status: 201, ...created }
}

async function replace(exchange: Exchange, parts: ApiParts): Promise<OperationResponse> {
  const request = await readServiceDefinition(exchange)
  return change(exchange, parts, (service, facts) => {
    assertUnchanged(exchange, parts, service)
    return replaceService(service, request, serviceDeps(facts, parts))
  })
}

async function remove(exchange: Exchange, parts: ApiParts): Promise<OperationResponse> {
  await change(exchange, parts, (service) => {
    assertUnchanged(exchange, parts, service)
    return deleteService(service)
  })
  return { status: 204 }
}

function pause(exchange: Exchange, parts: ApiParts): Promise<OperationResponse> {
  return change(exchange, parts, (service) => pauseService(service, parts.environment.nowMs()))
}

function resume(exchange: Exchange, parts: ApiParts): Promise<OperationResponse> {
  return change(exchange, parts, (service, { quota }) => resumeService(service, quota))
}

function assertUnchanged({ header }: Exchange, { store }: ApiParts, { generation }: Service): void {
  assertIfMatch(header('if-match'), entityTag(store.storeId, generation))
}

async function change(
  exchange: Exchange,
  { store, environment }: ApiParts,
  decide: (service: Service, facts: ServiceFacts) => ServiceChange | null,
): Promise<OperationResponse> {
  const { caller, id } = exchange
  const origin = readOrigin(exchange, environment.nowMs())
  const changed = await store.changeService(caller.orgId, readId(id), (service, facts) => {
    const decided = decide(service, facts)
    return decided === null ? null : { ...decided, origin }
  })
  return found(changed)
}

function found(service: RenderedService | undefined): OperationResponse {
  if (service === undefined) throw notFound()
  return { status: 200, ...service }
}
