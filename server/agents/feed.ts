import type { ServiceResponse } from '../../api/contract/service.ts'
import type { CallValue, StartedService, SyncResponse } from '../../monitoring/protocol/messages.ts'
import { seriesNumber } from '../domain/regions.ts'
import { openValue, type SealPlace } from '../domain/seal.ts'
import type { FindMasterKey } from '../secrets/masterKeys.ts'
import type { MonitoringStore, StoredDefinition } from '../store/monitoringStore.ts'
import type { SecretStore } from '../store/store.ts'
import { endpointTask, type OpenSecret } from './endpointTask.ts'

/** Maximum number of services per page. */
const PAGE_SERVICES = 200
/** Maximum total size of the definitions of a page (characters); the first may be longer. */
const PAGE_CHARS_MAX = 4 * 1024 * 1024
/**
 * Number of opened secrets after which a page ends: each takes some microseconds of the main thread. The last service
 * adds at most 500 more (Gap G40).
 */
const PAGE_SECRETS = 500
/** Number of newest commands that count as recent. A service with an older change gets its first check from the grid. */
const FIRST_COMMANDS_MAX = 10_000

/** A page of the services that a region should run; `whole` if it is a page of the complete feed. */
export type FeedPage = Pick<SyncResponse, 'cursor' | 'whole' | 'more' | 'start' | 'end'>

/** Dependencies of a feed. */
export interface FeedParts {
  readonly store: Pick<
    MonitoringStore,
    'definitionsAfter' | 'definitionOf' | 'endpointNumbers' | 'changedServices' | 'commandsForgottenUpTo'
  > &
    Pick<SecretStore, 'sealedValues'>
  readonly storeId: string
  readonly findMasterKey: FindMasterKey
}

/** A request for a page. */
export interface FeedRequest {
  readonly region: string
  /** Position of the agent; `null` for the beginning. */
  readonly cursor: string | null
  /** The newest command to include. */
  readonly upTo: number
  /** The newest command that reached an agent of the region. Later changes were never checked there. */
  readonly reachedUpTo: number
  /** Encrypts a secret for the agent. */
  readonly wrapSecret: (place: SealPlace, plain: string) => CallValue
}

/**
 * The next page for `region` after `cursor`, with commands up to `upTo`. A page has the current definition of each
 * service. A cursor of another store, or one whose next commands were deleted, restarts with the complete feed.
 */
export async function feedPage(parts: FeedParts, request: FeedRequest): Promise<FeedPage> {
  const { cursor, upTo } = request
  const place = placeOf(cursor, parts.storeId)
  const forgottenUpTo = await parts.store.commandsForgottenUpTo()
  const isReset = place === undefined || place.sequence > upTo || place.sequence < forgottenUpTo
  if (isReset) return wholePage(parts, request, { sequence: upTo, serviceId: '' })
  if (place.serviceId !== undefined)
    return wholePage(parts, request, { ...place, serviceId: place.serviceId })
  return changesPage(parts, request, place.sequence)
}

/** The command up to which an agent at `cursor` has received everything; 0 within the complete feed. Pure. */
export function reachedBy(cursor: string | null, storeId: string): number {
  const place = placeOf(cursor, storeId)
  return place === undefined || place.serviceId !== undefined ? 0 : place.sequence
}

/** Position of an agent: after a command, and within the complete feed after a service. */
interface Place {
  readonly sequence: number
  readonly serviceId?: string
}

const CURSOR = /^([0-9a-f-]{36})\.(\d{1,15})(?:\.([0-9a-f-]{0,36}))?$/

function placeOf(cursor: string | null, storeId: string): Place | undefined {
  const [, store, sequence, serviceId] = CURSOR.exec(cursor ?? '') ?? []
  if (store !== storeId) return undefined
  return { sequence: Number(sequence), ...(serviceId === undefined ? {} : { serviceId }) }
}

async function wholePage(
  parts: FeedParts,
  request: FeedRequest,
  { sequence, serviceId }: Required<Place>,
): Promise<FeedPage> {
  const page = await parts.store.definitionsAfter(serviceId, PAGE_SERVICES)
  const unchecked = await changedSince(parts, request)
  const start: StartedService[] = []
  let last = serviceId
  let secrets = 0
  for (const definition of page) {
    if (secrets >= PAGE_SECRETS) break
    last = definition.id
    if (!definition.runningIn.includes(request.region)) continue
    const made = await startedService(parts, definition, {
      request,
      first: unchecked.has(definition.id),
    })
    if (made === undefined) continue
    start.push(made.service)
    secrets += made.secrets
  }
  const more = page.length > 0
  const base = `${parts.storeId}.${sequence}`
  return { cursor: more ? `${base}.${last}` : base, whole: true, more, start, end: [] }
}

/** Services of the region with changes that no agent of it has received. */
async function changedSince(
  { store }: FeedParts,
  { region, upTo, reachedUpTo }: FeedRequest,
): Promise<ReadonlySet<string>> {
  if (upTo - reachedUpTo > FIRST_COMMANDS_MAX) return new Set()
  const range = { after: reachedUpTo, upTo: Number.MAX_SAFE_INTEGER, region }
  const changed = await store.changedServices({ ...range, countMax: FIRST_COMMANDS_MAX })
  return new Set(changed.map(({ serviceId }) => serviceId))
}

async function changesPage(parts: FeedParts, request: FeedRequest, after: number): Promise<FeedPage> {
  const { region, upTo } = request
  const changed = await parts.store.changedServices({ after, upTo, region, countMax: PAGE_SERVICES })
  const start: StartedService[] = []
  const end: FeedPage['end'] = []
  let sequence = after
  let secrets = 0
  let chars = 0
  for (const { serviceId, sequence: newest } of changed) {
    // Changes with the same position come together: a cursor is before or after all of them.
    const isFull = secrets >= PAGE_SECRETS || chars >= PAGE_CHARS_MAX
    if (isFull && newest !== sequence) break
    sequence = newest
    const definition = await parts.store.definitionOf(serviceId)
    if (definition?.runningIn.includes(region) !== true) {
      // A deleted service has no later generation.
      end.push({ service: serviceId, generation: definition?.generation ?? Number.MAX_SAFE_INTEGER })
      continue
    }
    const made = await startedService(parts, definition, { request, first: true })
    if (made === undefined) continue
    start.push(made.service)
    secrets += made.secrets
    chars += definition.text.length
  }
  const more = sequence < (changed.at(-1)?.sequence ?? sequence) || changed.length >= PAGE_SERVICES
  // Skips commands of other regions next time.
  const cursor = `${parts.storeId}.${more ? sequence : upTo}`
  return { cursor, whole: false, more, start, end }
}

/** The service for the region; `undefined` while an endpoint has no number, in which case its command follows later. */
async function startedService(
  { store, findMasterKey }: FeedParts,
  { id, orgId, generation, text }: StoredDefinition,
  { request, first }: { readonly request: FeedRequest; readonly first: boolean },
): Promise<{ readonly service: StartedService; readonly secrets: number } | undefined> {
  // True because only rendered ServiceResponses are stored.
  const response = JSON.parse(text) as ServiceResponse
  const numbers = await store.endpointNumbers([id])
  if (response.endpoints.some((endpoint) => !numbers.has(endpoint.id))) return undefined
  const sealed = text.includes('"Sealed"') ? await store.sealedValues(id) : []
  const open: OpenSecret = (endpointId, slot) => {
    const value = sealed.find((one) => one.endpointId === endpointId && one.slot === slot)
    if (value === undefined) throw new Error(`a secret of service ${id} is missing`)
    return request.wrapSecret(value, openValue(value, findMasterKey(value.masterKeyId)))
  }
  const endpoints = response.endpoints.map((endpoint) =>
    endpointTask(endpoint, seriesNumber(numbers.get(endpoint.id) ?? 0, request.region), open),
  )
  const service = {
    service: id,
    org: orgId,
    generation,
    interval_s: response.interval_secs,
    first,
    endpoints,
  }
  return { service, secrets: sealed.length }
}
