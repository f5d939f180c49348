import type { CanonicalService } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import { pointerSteps, valueAtPointer } from '../../api/contract/problem.ts'
import { type ServiceRequest, serviceRequestSchema } from '../../api/contract/service.ts'

type Tree = Record<string, unknown> | unknown[]

/**
 * `request` with the values that `live` has at `pointers`, canonical pointers to fields without secrets: a
 * full replace resets everything that it does not send. Throws a ZodError when that is no valid request.
 */
export function keepingValues(
  request: ServiceRequest,
  live: CanonicalService,
  pointers: readonly string[],
): ServiceRequest {
  if (pointers.length === 0) return request
  const values = pointers.map((pointer) => ({ pointer, value: wireValue(valueAtPointer(live, pointer)) }))
  return serviceRequestSchema.parse(withValues(request, values))
}

/**
 * What the API last answered, `observed`, with what `live` has instead at the pointers that `isTaken`; everything else
 * that differs goes on to. Pure.
 */
export function takingValues(
  observed: CanonicalService,
  live: CanonicalService,
  isTaken: (pointer: string) => boolean,
): CanonicalService {
  const values = changesBetween(observed, live, 'by-fingerprint')
    .filter(({ pointer }) => isTaken(pointer))
    .map(({ pointer, to }) => ({ pointer, value: to }))
  // True because both are canonical, and each leaf goes where the other has it.
  return withValues(observed, values) as CanonicalService
}

/** `root` with `values` at their pointers, an undefined one meaning that nothing is there. Pure. */
function withValues(
  root: object,
  values: readonly { readonly pointer: string; readonly value: unknown }[],
): unknown {
  const changed: unknown = structuredClone(root)
  for (const { pointer, value } of values) keep(changed, pointerSteps(pointer), value)
  return withoutGaps(changed)
}

function keep(root: unknown, steps: readonly string[], value: unknown): void {
  const parent = steps
    .slice(0, -1)
    .reduce<unknown>((tree, step) => (isTree(tree) ? at(tree, step) : undefined), root)
  const last = steps.at(-1)
  if (!isTree(parent) || last === undefined) return
  // What an array loses is taken out at the end: pointers count from where everything was.
  if (Array.isArray(parent)) parent[Number(last)] = value
  else {
    // Names of headers are compared in lower case and sent as written.
    const name = Object.keys(parent).find((key) => key.toLowerCase() === last.toLowerCase()) ?? last
    if (value === undefined) delete parent[name]
    else parent[name] = value
  }
}

function withoutGaps(value: unknown): unknown {
  if (!isTree(value)) return value
  if (Array.isArray(value)) return value.filter((item) => item !== undefined).map(withoutGaps)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutGaps(inner)]))
}

/** A canonical value in the form of a request. */
function wireValue(value: unknown): unknown {
  if (!isTree(value)) return value
  if (Array.isArray(value)) return value.map(wireValue)
  if ('plain' in value) return { value: value.plain }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, wireValue(inner)]))
}

function at(tree: Tree, step: string): unknown {
  return Array.isArray(tree) ? tree[Number(step)] : Object.hasOwn(tree, step) ? tree[step] : undefined
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null
}
