import type { ServiceRequest } from '../../../api/contract/service.ts'
import type { ManifestProblem } from '../manifestProblem.ts'
import type { ServiceManifest } from '../schema/serviceManifest.ts'
import type { Document } from './document.ts'

/** What a manifest says of how its service may be treated. */
export interface ServicePolicy {
  readonly onDelete: 'delete' | 'pause' | 'detach'
  /** How long a service that `onDelete: pause` paused is kept before it is deleted (seconds); null for ever. */
  readonly pruneAfterSecs: number | null
  readonly protect: boolean
  readonly drift: 'heal' | 'report' | 'ignore'
  /** JSON pointers into the manifest: what git leaves to others. */
  readonly ignore: readonly string[]
}

/** A service as a set wants it. `request` holds secrets in clear: it goes to the API and nowhere else. */
export interface DeclaredService {
  readonly key: string
  readonly id: string | undefined
  readonly previousNames: readonly string[]
  readonly request: ServiceRequest
  /** Absent when manifests leave pausing to people. */
  readonly paused: boolean | undefined
  readonly policy: ServicePolicy
  /** File of its Service document. */
  readonly file: string
  /** The whole manifest, after Defaults, patches and variables; secrets are still references. */
  readonly manifest: ServiceManifest
}

/** Everything that a set of manifests says. */
export interface ServiceSet {
  readonly services: readonly DeclaredService[]
  /** Keys of manifests that are there but have a problem: nothing may happen to their services. */
  readonly frozenKeys: readonly string[]
  readonly problems: readonly ManifestProblem[]
  readonly warnings: readonly ManifestProblem[]
}

/** A Service document as far as it could be read. */
export interface ReadService {
  readonly document: Document
  readonly key: string | undefined
  readonly id: string | undefined
  readonly service: DeclaredService | undefined
  readonly problems: readonly ManifestProblem[]
  readonly warnings?: readonly ManifestProblem[]
  /** Warnings that are given once nothing is wrong. */
  readonly advice?: readonly ManifestProblem[]
}
