import { canonicalRequest, canonicalResponse } from '../../../api/contract/canonical.ts'
import type { ServiceRequest, ServiceResponse } from '../../../api/contract/service.ts'
import { type Binding, newBinding } from '../binding.ts'
import type { DesiredService } from '../desiredService.ts'
import { type PlanFacts, planChanges } from '../plan.ts'
import type { Change, Plan } from '../planValue.ts'

/** Id of the service that a test has where it names no other. */
export const ID = '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e'
export const OTHER_ID = '0a3bb2ce-5d2c-4c3c-9d5f-0d3c2b1a9e88'

/** When plans are made (milliseconds since the epoch). */
export const NOW_MS = 1_000_000_000
const PLAIN_POLICY: DesiredService['policy'] = {
  onDelete: 'delete',
  pruneAfterSecs: null,
  protect: false,
  drift: 'heal',
  isIgnored: () => false,
}

/** What services of tests differ in. */
interface Shape {
  readonly name?: string
  readonly interval?: number
  readonly regions?: readonly string[]
  readonly secret?: string
  readonly url?: string
  /** Addresses of further endpoints. */
  readonly moreUrls?: readonly string[]
}

function request({
  name = 'Shop',
  url = 'https://example.com/',
  interval = 60,
  regions = ['eu-west-1'],
  secret = 'one',
  moreUrls = [],
}: Shape): ServiceRequest {
  return {
    name,
    interval_secs: interval,
    regions: [...regions],
    endpoints: [url, ...moreUrls].map((address) => ({
      url: address,
      call: {
        Http: {
          method: 'GET',
          timeout: null,
          headers: { Authorization: { value: secret, sensitive: true } },
        },
      },
      assertions: [],
    })),
  }
}

/** A service as its manifest, `shop` unless `change` says otherwise, wants it. */
export function desired(
  shape: Shape = {},
  change: Partial<Omit<DesiredService, 'policy'>> & {
    readonly policy?: Partial<DesiredService['policy']>
  } = {},
): DesiredService {
  const key = change.key ?? 'shop'
  const canonicalUnder: DesiredService['canonicalUnder'] = (of, placeOf = (at) => at) =>
    canonicalRequest(request(shape), (pointer, value) => {
      const place = pointer.replace(/\d+/, (at) => String(placeOf(Number(at))))
      return `mark of ${value} at ${of}${place}`
    })
  return {
    key,
    id: undefined,
    previousNames: [],
    paused: undefined,
    canonical: canonicalUnder(key),
    canonicalUnder,
    ...change,
    policy: { ...PLAIN_POLICY, ...change.policy },
  }
}

/** A service of the API. */
export interface Live extends Shape {
  readonly id?: string
  readonly paused?: boolean
  readonly keyId?: string
}

/** A service as the API shows it; its secret has the key id `k1`. */
export function live(shape: Live = {}): ServiceResponse {
  const made = request(shape)
  return {
    id: shape.id ?? ID,
    org_id: 'b3b1f1de-3d44-4a35-9f0e-4d9d8c1f5a11',
    ...made,
    endpoints: made.endpoints.map((endpoint) => ({
      ...endpoint,
      id: '1e0ea0a5-0b5b-43cb-8a3c-e4b5b2ad5a0f',
      blocked: false,
      call: {
        Http: {
          ...endpoint.call.Http,
          body: null,
          headers: { Authorization: { Sealed: { key_id: shape.keyId ?? 'k1' } } },
        },
      },
    })),
    created_at: '2026-01-01T00:00:00.000Z',
    paused_at: shape.paused === true ? '2026-02-02T00:00:00.000Z' : null,
    auto_incident_enabled: false,
  }
}

/** The binding that applying `shape` left behind, with `response` from the API. */
export function binding(shape: Shape = {}, response: Live = shape, change: Partial<Binding> = {}): Binding {
  const key = change.key ?? 'shop'
  return {
    ...newBinding(key, response.id ?? ID),
    desired: desired(shape, { key }).canonical,
    observed: canonicalResponse(live(response)),
    onDelete: 'delete',
    ...change,
  }
}

/** The plan of `input`; what it leaves out is empty. */
export function plan(input: Partial<PlanFacts>): Plan {
  return planChanges({
    desired: [],
    frozenKeys: [],
    actual: [],
    unreadableIds: [],
    bindings: [],
    unsettled: [],
    hasState: true,
    isValid: true,
    nowMs: NOW_MS,
    ...input,
  })
}

/** One line for each change: what tests compare. */
export function brief(changes: readonly Change[]): readonly string[] {
  return changes.map(briefly)
}

function briefly(change: Change): string {
  switch (change.kind) {
    case 'create':
      return `create ${change.key}${change.paused ? ' paused' : ''}${change.replacesLost === null ? '' : ' again'}`
    case 'update': {
      const fields = change.fields.map((field) => `${field.reason} ${field.pointer}`).join(', ')
      const from = change.renamedFrom === null ? '' : ` from ${change.renamedFrom}`
      return `${change.replace ? 'replace' : ''}${change.pausing ?? ''} ${change.key}${from}: ${fields}`
    }
    case 'record':
      return `record ${change.key}${change.renamedFrom === null ? '' : ` from ${change.renamedFrom}`}`
    case 'prune':
      return `${change.how} ${change.key}`
    case 'drifted':
      return `drifted ${change.key}: ${change.fields.map((field) => field.pointer).join(', ')}`
    case 'blocked':
      return `blocked ${change.key}${change.needsDecision ? ' for a person' : ''}`
  }
}
