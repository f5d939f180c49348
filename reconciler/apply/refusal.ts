import { ApiError } from '../../api/contract/apiError.ts'
import { manifestPathOf } from '../manifest/compile/compileService.ts'
import type { DeclaredService } from '../manifest/compile/declaredService.ts'
import { problemAt } from '../manifest/compile/serviceSet.ts'
import type { Place } from '../manifest/manifestProblem.ts'
import type { ManifestPath } from '../manifest/read/position.ts'
import type { ChangeOutcome } from './outcome.ts'

/** The start of responses of status 400, such as `endpoints[0].url: must be …`. Gap G11. */
const FIELD_FIRST = /^((?:name|interval_secs|regions|endpoints)(?:\[\d+\]|\.[\w-]+)*): /
/** Plan limits that one definition exceeds whatever the number of services. Gap G12. */
const LIMITED_FIELD = /^plan limit: (?:(interval_secs|regions) must|at most \d+ (endpoints) in one service)/
const STEP = /\[(\d+)\]|[\w-]+/g

/** The API's message about a refused definition; undefined for other errors. Pure. */
export function refusalOf(error: unknown): string | undefined {
  const isRefusal = error instanceof ApiError && (error.code === 'invalid' || error.code === 'forbidden')
  return isRefusal ? error.message : undefined
}

/** Whether the definition exceeds a plan limit whatever the number of services. Pure. */
export function exceedsByItself(error: ApiError): boolean {
  return LIMITED_FIELD.test(error.message)
}

/** Path in the manifest of `service` of the field that `refusal` names; undefined for none. Pure. */
export function refusedPath(refusal: string, service: DeclaredService): ManifestPath | undefined {
  const found = FIELD_FIRST.exec(refusal) ?? LIMITED_FIELD.exec(refusal)
  const field = found?.[1] ?? found?.[2]
  if (field === undefined) return undefined
  const steps = [...field.matchAll(STEP)].map(([key, index]) => (index === undefined ? key : Number(index)))
  return manifestPathOf(steps, service.manifest.spec.name === undefined)
}

/**
 * The place in the manifest of a refused definition: the field that the response names, or else `metadata.name`.
 * Undefined without a refusal or a manifest. Pure.
 */
export function refusedPlace(
  { change, refusal }: Pick<ChangeOutcome, 'change' | 'refusal'>,
  declared: ReadonlyMap<string, DeclaredService>,
): Place | undefined {
  const service = declared.get(change.key)
  if (service === undefined || refusal === undefined) return undefined
  const path = refusedPath(refusal, service) ?? ['metadata', 'name']
  return problemAt(service, path, { code: 'E_VALUE', message: refusal })
}
