import { type Mapping, mappingOf } from '../manifest/mapping.ts'

/** The `spec` of a manifest. Pure. */
export function specOf(manifest: object): Mapping {
  return mappingOf(mappingOf(manifest)?.spec) ?? {}
}

/** The endpoints of the `spec` of a Service. Pure. */
export function endpointsOf({ endpoints }: Mapping): readonly Mapping[] {
  return Array.isArray(endpoints) ? endpoints.map((endpoint) => mappingOf(endpoint) ?? {}) : []
}
