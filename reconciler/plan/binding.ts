import type { CanonicalService } from '../../api/contract/canonical.ts'

/** What happens to a service when its manifest goes. */
export type OnDelete = 'delete' | 'pause' | 'detach'

/** One time that a field was put back after a change outside. */
export interface Heal {
  readonly pointer: string
  /** Milliseconds since the epoch. */
  readonly atMs: number
}

/**
 * What we know of a service that we own: which manifest it belongs to, what we last asked for and what the
 * API answered to that. Secrets are fingerprints in both.
 */
export interface Binding {
  readonly key: string
  readonly serviceId: string
  /** What was last sent; null when the service was taken over and nothing was sent yet. */
  readonly desired: CanonicalService | null
  /** What the API last answered; null as for `desired`. */
  readonly observed: CanonicalService | null
  /** Whether the manifest last wanted the service paused; null when it left that to people. */
  readonly paused: boolean | null
  /** Policy at the last apply: the manifest is gone when it is needed. */
  readonly onDelete: OnDelete
  readonly protect: boolean
  /** How long a service paused because its manifest went is kept before it is deleted (seconds); null for ever. */
  readonly pruneAfterSecs: number | null
  /** When the service was paused because its manifest went (milliseconds since the epoch); null when it was not. */
  readonly tombstonedAtMs: number | null
  /** What was put back lately. */
  readonly heals: readonly Heal[]
}

/** A binding that nothing was sent for yet. Pure. */
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
