import { ApiError } from '../../api/contract/apiError.ts'
import { manifestPathOf } from '../manifest/compile/compileService.ts'
import type { DeclaredService } from '../manifest/compile/declaredService.ts'
import { problemAt } from '../manifest/compile/serviceSet.ts'
import type { Place } from '../manifest/manifestProblem.ts'
import type { ManifestPath } from '../manifest/read/position.ts'
import type { ChangeOutcome } from './outcome.ts'

/** `endpoints[0].url: must be …`, as answers of status 400 begin. Gap G11. */
const FIELD_FIRST = /^((?:name|interval_secs|regions|endpoints)(?:\[\d+\]|\.[\w-]+)*): /
/** Limits of a plan that one definition exceeds by itself, however many services there are. Gap G12. */
const LIMITED_FIELD = /^plan limit: (?:(interval_secs|regions) must|at most \d+ (endpoints) in one service)/
const STEP = /\[(\d+)\]|[\w-]+/g

/** What the API said of a definition that it refused; undefined when `error` is no such refusal. Pure. */
export function refusalOf(error: unknown): string | undefined {
  const isRefusal = error instanceof ApiError && (error.code === 'invalid' || error.code === 'forbidden')
  return isRefusal ? error.message : undefined
}

/** Whether a limit of the plan refused this definition whatever other services there are. Pure. */
export function exceedsByItself(error: ApiError): boolean {
  return LIMITED_FIELD.test(error.message)
}

/** Path in `service`'s manifest of the field that `refusal` names; undefined when it names none. Pure. */
export function refusedPath(refusal: string, service: DeclaredService): ManifestPath | undefined {
  const found = FIELD_FIRST.exec(refusal) ?? LIMITED_FIELD.exec(refusal)
  const field = found?.[1] ?? found?.[2]
  if (field === undefined) return undefined
  const steps = [...field.matchAll(STEP)].map(([key, index]) => (index === undefined ? key : Number(index)))
  return manifestPathOf(steps, service.manifest.spec.name === undefined)
}

/**
 * Where the manifest has what the API refused: the field that the answer names, or else the service's name. Undefined
 * when the API did not refuse the definition, or no manifest has the service. Pure.
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
