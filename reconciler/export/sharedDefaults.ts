import type { Mapping } from '../manifest/mapping.ts'
import { API_VERSION } from '../manifest/schema/serviceManifest.ts'
import { endpointsOf, specOf } from './manifestParts.ts'

/** Number of services from which a Defaults document is shorter. */
const SERVICES_MIN = 3

/** Fields that a service may override. */
const SERVICE_FIELDS = ['interval', 'regions'] as const
/** Fields for endpointsDefaults only if all endpoints have the same value, because an endpoint without one would get it. */
const ENDPOINT_FIELDS = ['timeout', 'maxRedirects', 'withDns', 'assertions'] as const

/**
 * Moves common fields of `manifests`, which `exportService` returned, to a Defaults document: the most frequent interval and
 * regions, and equal fields of all endpoints. The result compiles to the same services. Pure.
 */
export function withSharedDefaults(manifests: readonly object[]) {
  const specs = manifests.map(specOf)
  if (specs.length < SERVICES_MIN) return { defaults: undefined, manifests }
  const shared = Object.fromEntries(
    SERVICE_FIELDS.flatMap((field) => {
      const frequent = mostFrequent(specs.map((spec) => spec[field]))
      return frequent === undefined ? [] : [[field, frequent]]
    }),
  )
  const endpoints = specs.flatMap(endpointsOf)
  const ofEndpoints = Object.fromEntries(
    ENDPOINT_FIELDS.flatMap((field) => {
      const first = endpoints[0]?.[field]
      const isShared = first !== undefined && endpoints.every((endpoint) => isSame(endpoint[field], first))
      return isShared ? [[field, first]] : []
    }),
  )
  const hasEndpoints = Object.keys(ofEndpoints).length > 0
  const spec = { ...shared, ...(hasEndpoints ? { endpointsDefaults: ofEndpoints } : {}) }
  if (Object.keys(spec).length === 0) return { defaults: undefined, manifests }
  return {
    defaults: { apiVersion: API_VERSION, kind: 'Defaults', spec },
    manifests: manifests.map((manifest, index) => ({
      ...manifest,
      spec: {
        ...without(specs[index] ?? {}, shared),
        endpoints: endpointsOf(specs[index] ?? {}).map((endpoint) => without(endpoint, ofEndpoints)),
      },
    })),
  }
}

/** The most frequent of `values`, the first one of several; `undefined` when none occurs twice. */
function mostFrequent(values: readonly unknown[]): unknown {
  const counts = new Map<string, { readonly value: unknown; count: number }>()
  for (const value of values) {
    const entry = counts.get(JSON.stringify(value))
    if (entry === undefined) counts.set(JSON.stringify(value), { value, count: 1 })
    else entry.count += 1
  }
  const [most] = [...counts.values()].sort((a, b) => b.count - a.count)
  return most === undefined || most.count < 2 ? undefined : most.value
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function without(mapping: Mapping, shared: Mapping): Mapping {
  return Object.fromEntries(Object.entries(mapping).filter(([name, value]) => !isSame(shared[name], value)))
}
