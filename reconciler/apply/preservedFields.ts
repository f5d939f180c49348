import type { CanonicalService } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import { pointerSteps, valueAtPointer } from '../../api/contract/problem.ts'
import { type ServiceRequest, serviceRequestSchema } from '../../api/contract/service.ts'

type Tree = Record<string, unknown> | unknown[]

/**
 * `request` with the values of `live` at `pointers`, canonical pointers to fields without secrets, because a full replace
 * resets every field that it leaves out. Throws a ZodError when the result is invalid.
 */
export function withLiveValues(
  request: ServiceRequest,
  live: CanonicalService,
  pointers: readonly string[],
): ServiceRequest {
  if (pointers.length === 0) return request
  const values = pointers.map((pointer) => ({ pointer, value: wireValue(valueAtPointer(live, pointer)) }))
  return serviceRequestSchema.parse(withValues(request, values))
}

/** `observed`, the API's last response, with the values of `live` at the pointers that `isTaken` accepts. Pure. */
export function withAcceptedValues(
  observed: CanonicalService,
  live: CanonicalService,
  isTaken: (pointer: string) => boolean,
): CanonicalService {
  const values = changesBetween(observed, live, 'by-fingerprint')
    .filter(({ pointer }) => isTaken(pointer))
    .map(({ pointer, to }) => ({ pointer, value: to }))
  // True because both are canonical, and each value keeps its pointer.
  return withValues(observed, values) as CanonicalService
}

/** `root` with `values` at their pointers; an undefined value removes the field. Pure. */
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
  // Removed array items are taken out at the end, because pointers refer to the original indexes.
  if (Array.isArray(parent)) parent[Number(last)] = value
  else {
    // Header names are compared in lower case and sent as written.
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
