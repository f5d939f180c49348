import type { CanonicalService } from '../../api/contract/canonical.ts'

/** What happens to a service when its manifest is removed. */
export type OnDelete = 'delete' | 'pause' | 'detach'

/** One reversal of a manual change. */
export interface Heal {
  readonly pointer: string
  /** Milliseconds since the epoch. */
  readonly atMs: number
}

/**
 * The record of an owned service: its manifest, the last request and the API's response. Both hold fingerprints in
 * place of secrets.
 */
export interface Binding {
  readonly key: string
  readonly serviceId: string
  /** The last definition sent; null for an adopted service to which nothing was sent yet. */
  readonly desired: CanonicalService | null
  /** The last definition that the API returned; null as for `desired`. */
  readonly observed: CanonicalService | null
  /** `paused` in the manifest at the last apply; null when the manifest did not set it. */
  readonly paused: boolean | null
  /** Policy at the last apply, because the manifest no longer exists when the policy is needed. */
  readonly onDelete: OnDelete
  readonly protect: boolean
  /** Time between pausing a service whose manifest was removed and deleting it (seconds); null to keep it. */
  readonly pruneAfterSecs: number | null
  /** When the service was paused because its manifest was removed (milliseconds since the epoch); null otherwise. */
  readonly tombstonedAtMs: number | null
  /** Recent reversals of manual changes. */
  readonly heals: readonly Heal[]
}

/** A binding of a service to which nothing was sent yet. Pure. */
export function newBinding(key: string, serviceId: string): Binding {
  return {
    key,
    serviceId,
    desired: null,
    observed: null,
    paused: null,
    onDelete: 'detach',
    protect: false,
    pruneAfterSecs: null,
    tombstonedAtMs: null,
    heals: [],
  }
}
