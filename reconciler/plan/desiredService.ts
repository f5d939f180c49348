import type { CanonicalService } from '../../api/contract/canonical.ts'
import { type Binding, newBinding } from './binding.ts'

/** A service as its manifest declares it, without its secrets. */
export interface DesiredService {
  readonly key: string
  readonly id: string | undefined
  readonly previousNames: readonly string[]
  /** Canonical form with the fingerprints that belong to `key`. */
  readonly canonical: CanonicalService
  /**
   * The same with the fingerprints of another key, or of endpoints at the indexes that `indexOf` returns. It compares a
   * renamed manifest, or an endpoint that moved, with its previous version.
   */
  readonly canonicalUnder: (key: string, indexOf?: (endpoint: number) => number) => CanonicalService
  readonly paused: boolean | undefined
  readonly policy: Pick<Binding, 'onDelete' | 'pruneAfterSecs' | 'protect'> & {
    /** What to do about a manual change. */
    readonly drift: 'heal' | 'report' | 'ignore'
    /** Whether `policy.ignore` covers the field at a canonical pointer. */
    readonly isIgnored: (pointer: string) => boolean
  }
}

/** The binding of a service that matches `desired`. Pure. */
export function bindingFor(
  desired: DesiredService,
  serviceId: string,
  observed: Binding['observed'],
  paused: boolean | null,
): Binding {
  const { onDelete, protect, pruneAfterSecs } = desired.policy
  return {
    ...newBinding(desired.key, serviceId),
    desired: desired.canonical,
    observed,
    paused,
    onDelete,
    protect,
    pruneAfterSecs,
  }
}
