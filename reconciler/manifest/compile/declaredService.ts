import type { ServiceRequest } from '../../../api/contract/service.ts'
import type { DesiredService } from '../../plan/desiredService.ts'
import type { ManifestProblem } from '../manifestProblem.ts'
import type { ServiceManifest } from '../schema/serviceManifest.ts'
import type { Document } from './document.ts'

/** The `policy` of a manifest, with defaults. */
export interface ServicePolicy extends Omit<DesiredService['policy'], 'isIgnored'> {
  /** JSON pointers to fields of the manifest that are not managed. */
  readonly ignore: readonly string[]
}

/** A service as declared in a set. `request` contains secrets in clear: it is sent to the API and nowhere else. */
export interface DeclaredService {
  readonly key: string
  readonly id: string | undefined
  readonly previousNames: readonly string[]
  readonly request: ServiceRequest
  /** Absent when manifests do not manage pausing. */
  readonly paused: boolean | undefined
  readonly policy: ServicePolicy
  /** File of its Service document. */
  readonly file: string
  /** The whole manifest, after Defaults, patches and variables; secrets are still references. */
  readonly manifest: ServiceManifest
}

/** A compiled set of manifests. */
export interface ServiceSet {
  readonly services: readonly DeclaredService[]
  /** Keys of manifests that exist but have a problem: their services must not change. */
  readonly frozenKeys: readonly string[]
  readonly problems: readonly ManifestProblem[]
  readonly warnings: readonly ManifestProblem[]
}

/** A Service document, as far as it can be compiled. */
export interface ReadService {
  readonly document: Document
  readonly key: string | undefined
  readonly id: string | undefined
  readonly service: DeclaredService | undefined
  readonly problems: readonly ManifestProblem[]
  readonly warnings?: readonly ManifestProblem[]
  /** Warnings that are shown only without problems. */
  readonly advice?: readonly ManifestProblem[]
}
