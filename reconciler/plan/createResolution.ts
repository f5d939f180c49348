import { type CanonicalService, canonicalResponse } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { type Binding, newBinding } from './binding.ts'
import type { Blocked } from './planValue.ts'

/** A creation that was sent, or was about to be, and of which no answer is recorded. */
export interface OpenCreate {
  readonly opId: string
  readonly key: string
  readonly sent: CanonicalService
  /** Services of the same name that existed before it was sent. */
  readonly preIds: readonly string[]
  /** Policy for the binding that it becomes. */
  readonly policy: Pick<Binding, 'onDelete' | 'protect' | 'pruneAfterSecs'>
  /** When it can no longer land (milliseconds since the epoch). */
  readonly settledAtMs: number
}

/** What became of open creations. */
export interface CreateResolution {
  /** Those whose service was found. */
  readonly recovered: readonly { readonly opId: string; readonly binding: Binding }[]
  /** Those that came to nothing: they may be sent again. */
  readonly void: readonly string[]
  /** Keys that have to wait or need a person. */
  readonly unsettled: readonly Blocked[]
}

/**
 * Finds out from the list of services which of the open creations happened. One service that was not there
 * before, has that name and that definition and is unmanaged is the one; none means that nothing
 * happened, once the request can no longer land; several are for a person to tell apart. Pure.
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
  const voided: string[] = []
  const unsettled: Blocked[] = []
  for (const { create, found } of claims) {
    const [only] = found
    if (create.settledAtMs > nowMs) unsettled.push(waitingFor(create))
    else if (only === undefined) voided.push(create.opId)
    else if (found.length === 1 && claimed(only.id) === 1) {
      recovered.push({ opId: create.opId, binding: bindingOf(create, only) })
    } else unsettled.push(ambiguous(create, found))
  }
  return { recovered, void: voided, unsettled }
}

function isOutcomeOf(create: OpenCreate, service: ServiceResponse): boolean {
  return (
    service.name === create.sent.name &&
    !create.preIds.includes(service.id) &&
    changesBetween(canonicalResponse(service), create.sent, 'set-is-equal').length === 0
  )
}

function bindingOf(create: OpenCreate, service: ServiceResponse): Binding {
  return {
    ...newBinding(create.key, service.id),
    desired: create.sent,
    observed: canonicalResponse(service),
    ...create.policy,
  }
}

function waitingFor(create: OpenCreate): Blocked {
  return {
    kind: 'blocked',
    key: create.key,
    message: 'a creation was sent and its answer was lost: it may still take effect',
    hint: 'apply again in a minute',
    needsDecision: false,
  }
}

function ambiguous(create: OpenCreate, found: readonly ServiceResponse[]): Blocked {
  const ids = found.map((service) => service.id).join(', ')
  return {
    kind: 'blocked',
    key: create.key,
    message: `a creation was sent and its answer was lost; several services may be its result: ${ids}`,
    hint: 'set metadata.id to the right one',
    needsDecision: true,
  }
}
