import { ConnectionError } from '../../api/client/attempt.ts'
import { UnreadableResponse } from '../../api/client/contractResponse.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import { canonicalRequest, UNKNOWN_FINGERPRINT } from '../../api/contract/canonical.ts'
import type { Org } from '../../api/contract/org.ts'
import { visible } from '../../api/contract/visibleText.ts'
import type { DeclaredService } from '../manifest/compile/declaredService.ts'
import { UNRESOLVED } from '../manifest/values/valueReference.ts'
import { type OpenCreate, resolveCreates } from '../plan/createResolution.ts'
import type { DesiredService } from '../plan/desiredService.ts'
import { planChanges } from '../plan/plan.ts'
import type { Plan } from '../plan/planValue.ts'
import { applySafetyLimits } from '../plan/safetyLimits.ts'
import { narrowed } from '../plan/selection.ts'
import { type SuspectedDuplicate, suspectedDuplicates } from '../plan/suspectedDuplicates.ts'
import { ExpectedFailure } from '../run/failure.ts'
import { type OpenIntent, isInForce } from '../state/model/record.ts'
import { fingerprintFor, type StateKey } from '../state/stateKey.ts'
import { counted } from '../text/counts.ts'
import { digestOf } from './approval.ts'
import { ignoredBy } from './ignoredFields.ts'
import type { PlanInput, PlanResult } from './planResult.ts'
import { blockUnknownRegions, sendsRegions } from './unknownRegions.ts'

/** The state belongs to another organisation: neither a comparison nor a write would be correct. */
export class OrgMismatch extends ExpectedFailure {
  override readonly name = 'OrgMismatch'
  readonly code = 'E_ORG_MISMATCH'
}

/**
 * The organisation of the key, verified to be the one of the state. One request; none when `org` is given. Throws
 * OrgMismatch: with a key of another organisation every service would look deleted.
 */
export async function guardOrg(
  input: Pick<PlanInput, 'client' | 'store' | 'url'> & { readonly org?: Org | undefined },
): Promise<Org> {
  const org = input.org ?? (await input.client.getOrg())
  const home = await input.store.home()
  if (home === null || home.orgId === org.id) return org
  throw new OrgMismatch(
    `the state belongs to organisation ${home.orgId} at ${home.url}, but the API key belongs to ${visible(JSON.stringify(org.name))} (${org.id}): use the key or the state of the other environment`,
  )
}

/** Lists the services, resolves lost creations, and plans. One request, and a second one to look up regions; writes nothing. */
export async function buildPlan(input: PlanInput): Promise<PlanResult> {
  const listedAtMs = input.nowMs()
  const { services, unreadable } = await input.client.listServices({ lane: 'next' })
  const { store } = input
  const [known, intents, home, suspensions] = await Promise.all([
    store.bindings(),
    store.openIntents(),
    store.home(),
    store.suspensions(),
  ])
  const open = intents
    .filter(({ runId }) => runId !== input.runUnderWay)
    .flatMap((intent) => openCreate(intent, input.createGraceMs))
  const resolution = resolveCreates(open, services, known, input.nowMs())
  const bindings = [...known, ...resolution.recovered.map(({ binding }) => binding)]
  const desired = input.set.services.map((service) => desiredOf(service, input))
  const isValid = input.set.problems.length === 0
  const whole = planChanges({
    desired,
    frozenKeys: input.set.frozenKeys,
    actual: services,
    unreadableIds: unreadable.map(({ id }) => id),
    bindings,
    unsettled: resolution.unsettled,
    hasState: input.store.isDurable,
    isValid,
    nowMs: input.nowMs(),
  })
  const { plan: chosen, leftOut } = narrowed(whole, input.selection)
  const { plan, warnings } = await withKnownRegions(chosen, input)
  const facts = {
    exists: input.sourceExists,
    name: input.sourceName,
    formerName: home?.source ?? null,
    services: input.set.services.length + input.set.frozenKeys.length,
    isValid,
    // Manifests of another state are as wrong when a run selects some of them.
    removalsOfWhole: whole.changes.filter(({ kind }) => kind === 'prune').length,
    liveServices: services.length + unreadable.length,
    suspensions: suspensions.filter((one) => isInForce(one, input.nowMs())),
    holds: input.holds?.(plan),
  }
  const limited = applySafetyLimits(plan, facts, input.safetyLimits)
  const claimedIds = new Set(desired.flatMap(({ id }) => id ?? []))
  const duplicates = suspectedDuplicates(services, bindings, claimedIds)
  const bindingsByKey = new Map(bindings.map((binding) => [binding.key, binding]))
  return {
    services,
    listedAtMs,
    bindings: bindingsByKey,
    desired: new Map(desired.map((service) => [service.key, service])),
    declared: new Map(input.set.services.map((service) => [service.key, service])),
    resolution,
    plan,
    leftOut,
    limited,
    duplicates,
    warnings: [...leftOutText(leftOut), ...warnings, ...duplicates.map(duplicateText)],
    digest: digestOf(limited, { services, bindings: bindingsByKey }),
  }
}

function leftOutText({ services, changes }: PlanResult['leftOut']): readonly string[] {
  if (services === 0) return []
  return [
    `${counted(services, 'service')} left out by --selector or --target; ${changes === 0 ? 'none' : changes} of them would change`,
  ]
}

/** The warning about a suspected duplicate. Pure. */
export function duplicateText({ key, of, id }: SuspectedDuplicate): string {
  return `service ${id} equals service ${of} of ${key}, and no manifest of this set has it: if it is a duplicate, delete it with DELETE /v1/services/${id}`
}

async function withKnownRegions(
  plan: Plan,
  input: PlanInput,
): Promise<Pick<PlanResult, 'plan' | 'warnings'>> {
  if (input.regions === 'trusted' || !plan.changes.some(sendsRegions)) return { plan, warnings: [] }
  const requested = new Map(input.set.services.map(({ key, request }) => [key, request.regions]))
  try {
    const known = (await input.client.listRegions({ lane: 'next' })).map(({ code }) => code)
    return { plan: blockUnknownRegions(plan, known, (key) => requested.get(key) ?? []), warnings: [] }
  } catch (error) {
    if (
      !(error instanceof ApiError || error instanceof ConnectionError || error instanceof UnreadableResponse)
    )
      throw error
    // The API rejects unknown regions itself, only later.
    return { plan, warnings: [`the regions could not be read and are not checked: ${error.message}`] }
  }
}

function openCreate(intent: OpenIntent, graceMs: number): readonly OpenCreate[] {
  if (intent.create === null) return []
  const { opId, key, create, mayStillLand } = intent
  const settledAtMs = mayStillLand ? intent.sentAtMs + graceMs : 0
  return [{ opId, key, earlier: [], ...create, settledAtMs, mayStillLand }]
}

/** Declared services are immutable, so each is canonicalised once for a state. */
const desiredCache = new WeakMap<
  DeclaredService,
  { readonly stateKey: StateKey; readonly stateId: string; readonly desired: DesiredService }
>()

function desiredOf(service: DeclaredService, input: PlanInput): DesiredService {
  const { stateKey } = input
  const { stateId } = input.store
  const known = desiredCache.get(service)
  if (known?.stateKey === stateKey && known.stateId === stateId) return known.desired
  const desired = canonicalised(service, input)
  desiredCache.set(service, { stateKey, stateId, desired })
  return desired
}

function canonicalised(service: DeclaredService, input: PlanInput): DesiredService {
  const canonicalUnder: DesiredService['canonicalUnder'] = (key, indexOf = (endpoint) => endpoint) => {
    const fingerprint = fingerprintFor(input.stateKey, input.store.stateId, key)
    return canonicalRequest(service.request, (pointer, value) => {
      if (input.areSecretsOptional === true && value === UNRESOLVED) return UNKNOWN_FINGERPRINT
      return fingerprint(
        pointer.replace(/\d+/, (endpoint) => String(indexOf(Number(endpoint)))),
        value,
      )
    })
  }
  const { key, id, previousNames, paused } = service
  const { ignore, ...treatment } = service.policy
  const policy = { ...treatment, isIgnored: ignoredBy(ignore) }
  return { key, id, previousNames, paused, policy, canonical: canonicalUnder(key), canonicalUnder }
}

/** Whether the manifests look like those of another state. Pure. */
export function isOtherSource({ limited }: PlanResult): boolean {
  return limited.tripped.some(({ brake }) => brake === 'otherSource')
}
