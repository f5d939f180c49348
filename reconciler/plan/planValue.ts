import type { CanonicalService } from '../../api/contract/canonical.ts'
import type { FieldChange } from '../../api/contract/fieldChange.ts'
import type { OnDelete } from './binding.ts'

/**
 * Why a field changes. `git`: the manifest changed; `secret`: a secret changed; `drift`: the service was changed by hand;
 * `first-apply`: the service was just adopted; `differs`: there is no state to tell which side changed.
 */
export type Reason = 'git' | 'secret' | 'drift' | 'first-apply' | 'differs'

/** One field of an update, from the current value of the service to the planned one. */
export interface PlannedField extends FieldChange {
  readonly reason: Reason
  /** The value before a manual change of the same field; absent without such a change. */
  readonly outside?: { readonly was: unknown }
}

/** Why a key is blocked, and whether it needs a manual decision (exit code 6). */
export interface Blocked {
  readonly kind: 'blocked'
  readonly key: string
  readonly message: string
  readonly hint: string
  readonly needsDecision: boolean
  /** The field of the manifest that is the reason; absent when the manifest is not the reason. */
  readonly path?: readonly (string | number)[]
  /** Keys of the bindings that this manifest may refer to: they are kept until that is decided. */
  readonly claims?: readonly string[]
  /** The manual changes, aligned for readers, when they are the reason. */
  readonly drift?: Pick<Drifted, 'id' | 'fields'>
  /** Id of its service, when that was deleted by hand. */
  readonly lost?: string
}

/** A blocked key, which needs a manual decision unless `more` says otherwise. Pure. */
export function blocked(key: string, message: string, hint: string, more: Partial<Blocked> = {}): Blocked {
  return { kind: 'blocked', key, message, hint, needsDecision: true, ...more }
}

/** A service to create. */
export interface Create {
  readonly kind: 'create'
  readonly key: string
  readonly desired: CanonicalService
  readonly paused: boolean
  /** Id of the service deleted by hand that this one replaces; null for a new service. */
  readonly replacesLost: string | null
}

/** A service to update: `replace` sends the whole definition, `pausing` precedes or follows it. */
export interface Update {
  readonly kind: 'update'
  readonly key: string
  readonly id: string
  readonly renamedFrom: string | null
  readonly fields: readonly PlannedField[]
  /** `fields` aligned for readers: endpoints and assertions that only moved are left out. */
  readonly shown: readonly PlannedField[]
  /** The manual changes, aligned for readers, whether or not they are reverted. */
  readonly outside: readonly PlannedField[]
  readonly replace: boolean
  /** Canonical pointers whose current values are sent, because `policy.ignore` covers them. */
  readonly keeps: readonly string[]
  readonly pausing: 'pause' | 'resume' | null
  /** Whether it removes endpoints or regions or checks less often: such updates free quota for others. */
  readonly shrinks: boolean
  readonly actual: CanonicalService
  /** The value for `Binding.observed` when nothing is replaced: reported drift remains visible. */
  readonly observed: CanonicalService
}

/** A binding to write without a request: the service already matches its manifest. */
export interface Record {
  readonly kind: 'record'
  readonly key: string
  readonly id: string
  readonly renamedFrom: string | null
  /** The value for `Binding.observed`. */
  readonly observed: CanonicalService
}

/** A service whose manifest was removed. `forget`: the service no longer exists either. */
export interface Prune {
  readonly kind: 'prune'
  readonly key: string
  readonly id: string
  readonly how: OnDelete | 'forget'
  readonly name: string
  readonly createdAt: string | null
}

/** A manual change that is only reported: by policy, or because another writer repeats it. */
export interface Drifted {
  readonly kind: 'drifted'
  readonly key: string
  readonly id: string
  readonly fields: readonly PlannedField[]
  /** As in `Update`. */
  readonly shown: readonly PlannedField[]
  /** Pointers that were reverted so often that another writer must be setting them. */
  readonly looping: readonly string[]
}

/** The planned change of one key. */
export type Change = Create | Update | Record | Prune | Drifted | Blocked

/** The changes that make the services match the manifests, before safety limits. */
export interface Plan {
  /** In the order of execution. */
  readonly changes: readonly Change[]
  /** Keys whose services match their manifests. */
  readonly unchanged: readonly string[]
  /** Number of services owned before this plan. */
  readonly owned: number
  /** Number of owned services that still have a manifest, under their own or a new name. */
  readonly kept: number
}
