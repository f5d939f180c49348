import { mappingOf } from '../mapping.ts'
import { mergeEndpoint } from './defaults.ts'

/** The endpoints of a service that a patch wrote. */
export interface EndpointPlaces {
  /** For each endpoint of the patched service, its index in the patch; `undefined` for endpoints that are not in it. */
  readonly indexes: readonly (number | undefined)[]
  /** Whether the patch replaced all endpoints of the service. */
  readonly isReplaced: boolean
}

/**
 * The endpoints of a service after a patch. If every endpoint of the patch has a name, they are merged by name and new ones
 * are appended; a list with an unnamed endpoint replaces all. `undefined` when the patch has no endpoints. The documents
 * need not be valid. Pure.
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

/** `endpoint` with `undefined` in place of null headers: it overrides lower layers, and no file can contain it. */
function withoutNullHeaders(endpoint: unknown): unknown {
  return withHeaders(endpoint, (headers) => headers.map(([name, value]) => [name, value ?? undefined]))
}

/** `endpoints`, merged with their Defaults, without the headers that a patch removed. Pure. */
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
