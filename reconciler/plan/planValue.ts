import type { CanonicalService } from '../../api/contract/canonical.ts'
import type { FieldChange } from '../../api/contract/fieldChange.ts'
import type { OnDelete } from './binding.ts'

/**
 * Why a field changes: `git` the manifest changed, `secret` a secret in it changed, `drift` the service was
 * changed outside, `first-apply` it was just adopted, `differs` without a state it is unknown which side changed.
 */
export type Reason = 'git' | 'secret' | 'drift' | 'first-apply' | 'differs'

/** One field of an update. `from` is what the service has, `to` what it will have. */
export interface PlannedField extends FieldChange {
  readonly reason: Reason
  /** Present where the same field of the service was changed outside: what it had before that. */
  readonly outside?: { readonly was: unknown }
}

/** Why nothing can be done for a key, and whether a person has to decide (exit code 6). */
export interface Blocked {
  readonly kind: 'blocked'
  readonly key: string
  readonly message: string
  readonly hint: string
  readonly needsDecision: boolean
  /** Where in its manifest the reason stands; absent where it stands nowhere there. */
  readonly path?: readonly (string | number)[]
  /** Keys of bindings that this one may mean: they are kept until that is decided. */
  readonly claims?: readonly string[]
  /** What was changed outside, as people read it, where that has to be decided about. */
  readonly drift?: Pick<Drifted, 'id' | 'fields'>
  /** The service that it had, where that was deleted outside. */
  readonly lost?: string
}

/** A service to be made. */
export interface Create {
  readonly kind: 'create'
  readonly key: string
  readonly desired: CanonicalService
  readonly paused: boolean
  /** Id of the service that was deleted outside, where this creates it again. */
  readonly replacesLost: string | null
}

/** A service to be changed: `replace` sends the whole definition, `pausing` goes before or after it. */
export interface Update {
  readonly kind: 'update'
  readonly key: string
  readonly id: string
  readonly renamedFrom: string | null
  readonly fields: readonly PlannedField[]
  /** `fields` as people read them: endpoints and assertions found again where they moved to. */
  readonly shown: readonly PlannedField[]
  /** What was changed outside, as people read it, whether or not it is put back. */
  readonly outside: readonly PlannedField[]
  readonly replace: boolean
  /** Canonical pointers whose values the service keeps: the definition that is sent takes them from it. */
  readonly keeps: readonly string[]
  readonly pausing: 'pause' | 'resume' | null
  /** Whether it takes endpoints or regions away or checks less often: such updates make room for others. */
  readonly shrinks: boolean
  readonly actual: CanonicalService
  /** What the binding remembers as last seen when nothing is replaced: drift that is only reported stays known. */
  readonly observed: CanonicalService
}

/** A binding to be written without any request: the service already is as it should be. */
export interface Record {
  readonly kind: 'record'
  readonly key: string
  readonly id: string
  readonly renamedFrom: string | null
  /** What the binding remembers as last seen. */
  readonly observed: CanonicalService
}

/** A service whose manifest is gone. `forget`: the service is gone too. */
export interface Prune {
  readonly kind: 'prune'
  readonly key: string
  readonly id: string
  readonly how: OnDelete | 'forget'
  readonly name: string
  readonly createdAt: string | null
}

/** A change by hand that is only shown: by policy, or because it comes back however often it is undone. */
export interface Drifted {
  readonly kind: 'drifted'
  readonly key: string
  readonly id: string
  readonly fields: readonly PlannedField[]
  /** As in an update. */
  readonly shown: readonly PlannedField[]
  /** Pointers that were put back so often that another writer must be setting them. */
  readonly looping: readonly string[]
}

/** One thing that a plan wants for one key. */
export type Change = Create | Update | Record | Prune | Drifted | Blocked

/** What has to happen so that the services are as the manifests say, before brakes. */
export interface Plan {
  /** In the order of execution. */
  readonly changes: readonly Change[]
  /** Keys whose services are as they should be. */
  readonly unchanged: readonly string[]
  /** Services that we owned before this plan. */
  readonly owned: number
  /** Those among them that still have a manifest, under their own or a new name. */
  readonly kept: number
}
