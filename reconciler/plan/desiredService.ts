import type { CanonicalService } from '../../api/contract/canonical.ts'
import type { OnDelete } from './binding.ts'

/** What to do about a change made by hand. */
export type DriftPolicy = 'heal' | 'report' | 'ignore'

/** A service as the manifests want it, without its secrets. */
export interface DesiredService {
  readonly key: string
  readonly id: string | undefined
  readonly previousNames: readonly string[]
  /** Canonical form with the fingerprints that belong to `key`. */
  readonly canonical: CanonicalService
  /**
   * The same with the fingerprints that belong to another key, or that its endpoints had at the indexes that `placeOf` gives:
   * how a renamed manifest, and an endpoint that moved, is compared with its past.
   */
  readonly canonicalUnder: (key: string, placeOf?: (endpoint: number) => number) => CanonicalService
  readonly paused: boolean | undefined
  readonly policy: {
    readonly onDelete: OnDelete
    /** How long a service paused because its manifest went is kept (seconds); null for ever. */
    readonly pruneAfterSecs: number | null
    readonly protect: boolean
    readonly drift: DriftPolicy
    /** Whether git leaves the field at a canonical pointer, or all below it, to others. */
    readonly isIgnored: (pointer: string) => boolean
  }
}
