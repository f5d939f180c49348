import { type CanonicalService, canonicalResponse } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { type Binding, newBinding } from './binding.ts'
import { type Blocked, blocked } from './planValue.ts'

/** A creation that was sent, or was about to be sent, without a recorded response. */
export interface OpenCreate {
  readonly opId: string
  readonly key: string
  readonly sent: CanonicalService
  /** Other definitions that were sent earlier with this id, the first one first. */
  readonly earlier: readonly CanonicalService[]
  /** Ids of the services of the same name that existed before the creation was sent. */
  readonly preIds: readonly string[]
  /** Policy of the binding that a successful creation leads to. */
  readonly policy: Pick<Binding, 'onDelete' | 'protect' | 'pruneAfterSecs'>
  /** From when on it can no longer take effect (milliseconds since the epoch). */
  readonly settledAtMs: number
  /** Whether the server has not reported its failure. */
  readonly mayStillLand: boolean
}

/** The results of open creations. */
export interface CreateResolution {
  /** Creations whose service was found. */
  readonly recovered: readonly { readonly opId: string; readonly binding: Binding }[]
  /** Creations without effect: they may be sent again. */
  readonly void: readonly OpenCreate[]
  /** Keys that have to wait or need a manual decision. */
  readonly unsettled: readonly Blocked[]
}

/**
 * Determines from the list of services which open creations took effect. A creation did if exactly one unmanaged service
 * with its name and definition was added since; it did not if there is none once the request can no longer take effect.
 * Several need a manual decision. Pure.
 */
export function resolveCreates(
  open: readonly OpenCreate[],
  actual: readonly ServiceResponse[],
  bindings: readonly Binding[],
  nowMs: number,
): CreateResolution {
  const bound = new Set(bindings.map((binding) => binding.serviceId))
  const claims = open.map((create) => ({
    create,
    found: actual.filter((service) => !bound.has(service.id) && isOutcomeOf(create, service)),
  }))
  const claimed = (id: string): number =>
    claims.filter(({ found }) => found.some((service) => service.id === id)).length
  const recovered: { opId: string; binding: Binding }[] = []
  const voided: OpenCreate[] = []
  const unsettled: Blocked[] = []
  for (const { create, found } of claims) {
    const [only] = found
    if (create.settledAtMs > nowMs) unsettled.push(waitingFor(create))
    else if (only === undefined) voided.push(create)
    else if (found.length === 1 && claimed(only.id) === 1) {
      recovered.push({ opId: create.opId, binding: bindingOf(create, only) })
    } else unsettled.push(ambiguous(create, found))
  }
  return { recovered, void: voided, unsettled }
}

function isOutcomeOf(create: OpenCreate, service: ServiceResponse): boolean {
  return !create.preIds.includes(service.id) && definitionOf(create, service) !== undefined
}

/**
 * The definition of `create` that `service` has. Where several differ only in secrets it is the earliest, so that the plan
 * sends the latest again.
 */
function definitionOf({ earlier, sent }: OpenCreate, service: ServiceResponse): CanonicalService | undefined {
  return [...earlier, sent].find(
    (one) =>
      one.name === service.name &&
      changesBetween(canonicalResponse(service), one, 'set-is-equal').length === 0,
  )
}

function bindingOf(create: OpenCreate, service: ServiceResponse): Binding {
  return {
    ...newBinding(create.key, service.id),
    desired: definitionOf(create, service) ?? null,
    observed: canonicalResponse(service),
    ...create.policy,
  }
}

function waitingFor({ key }: OpenCreate): Blocked {
  const message = 'the response to a creation was lost: the creation may still take effect'
  return blocked(key, message, 'apply again in a minute', { needsDecision: false })
}

function ambiguous({ key }: OpenCreate, found: readonly ServiceResponse[]): Blocked {
  const ids = found.map((service) => service.id).join(', ')
  const message = `the response to a creation was lost, and several services may be its result: ${ids}`
  return blocked(key, message, 'set metadata.id to the id of the right one')
}
