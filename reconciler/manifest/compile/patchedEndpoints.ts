import { mappingOf } from '../mapping.ts'
import { mergeEndpoint } from './defaults.ts'

/** Which endpoints of a service a patch wrote. */
export interface EndpointPlaces {
  /** For each endpoint of the patched service, its place in the patch; `undefined` where it is not in it. */
  readonly indexes: readonly (number | undefined)[]
  /** Whether nothing is left of what the service had. */
  readonly isReplaced: boolean
}

/**
 * The endpoints of a service after a patch. Where each endpoint of the patch has a name, those whose name the service
 * has are merged into it, and the others go behind; a list with an endpoint without a name replaces all of them.
 * `undefined` when the patch has no endpoints. Works on documents that may yet turn out invalid. Pure.
 */
export function patchedEndpoints(
  own: unknown,
  patch: unknown,
): { readonly list: unknown; readonly places: EndpointPlaces } | undefined {
  if (patch === undefined) return undefined
  if (!Array.isArray(patch)) return { list: patch, places: { indexes: [], isReplaced: true } }
  const names = patch.map(nameOf)
  const changes = patch.map(withoutNullHeaders)
  if (!Array.isArray(own) || names.includes(undefined)) {
    return { list: changes, places: { indexes: changes.map((_, index) => index), isReplaced: true } }
  }
  const list: unknown[] = [...own]
  const indexes: (number | undefined)[] = own.map(() => undefined)
  for (const [index, endpoint] of changes.entries()) {
    const found = list.findIndex((one) => nameOf(one) === names[index])
    const at = found === -1 ? list.length : found
    const below = mappingOf(list[at])
    list[at] = mergeEndpoint(endpoint, below === undefined ? [] : [below])
    indexes[at] = index
  }
  return { list, places: { indexes, isReplaced: false } }
}

/** `endpoint` with `undefined` for headers that are null: it wins over what is below, which no text of a file can say. */
function withoutNullHeaders(endpoint: unknown): unknown {
  return withHeaders(endpoint, (headers) => headers.map(([name, value]) => [name, value ?? undefined]))
}

/** `endpoints`, which have their Defaults, without the headers that a patch took away. Pure. */
export function withoutRemovedHeaders(endpoints: unknown): unknown {
  if (!Array.isArray(endpoints)) return endpoints
  return endpoints.map((endpoint) =>
    withHeaders(endpoint, (headers) => headers.filter(([, value]) => value !== undefined)),
  )
}

type Entries = readonly (readonly [string, unknown])[]

function withHeaders(endpoint: unknown, change: (headers: Entries) => Entries): unknown {
  const fields = mappingOf(endpoint)
  const headers = mappingOf(fields?.headers)
  return headers === undefined
    ? endpoint
    : { ...fields, headers: Object.fromEntries(change(Object.entries(headers))) }
}

function nameOf(endpoint: unknown): string | undefined {
  const name = mappingOf(endpoint)?.name
  return typeof name === 'string' && name !== '' ? name : undefined
}
