import { dirname } from 'node:path/posix'
import { type Mapping, mappingOf } from '../mapping.ts'

/** The folders whose Defaults apply in `directory`, outermost first: `''`, `services`, `services/eu`. Pure. */
export function foldersOf(directory: string): readonly string[] {
  if (directory === '' || directory === '.') return ['']
  return [...foldersOf(dirname(directory)), directory]
}

/**
 * The Service document `service` merged over Defaults documents, outermost first. Mappings merge, lists and header values
 * replace, and each endpoint is merged over `endpointsDefaults`. The documents need not be valid: values of the wrong shape
 * are kept for the schema to reject. Pure.
 */
export function withDefaults(service: Mapping, defaults: readonly Mapping[]): Mapping {
  if (defaults.length === 0) return service
  const layers = [...defaults, service]
  const spec = mergeLayers(layers.map((layer) => layer.spec))
  const policy = mergeLayers(layers.map((layer) => layer.policy))
  const merged = { ...service, ...(spec === undefined ? {} : { spec: withEndpointDefaults(spec, layers) }) }
  return policy === undefined ? merged : { ...merged, policy }
}

/** The mappings among `layers`, merged; the last layer if it is another value. */
function mergeLayers(layers: readonly unknown[]): unknown {
  const top = layers.at(-1)
  if (top !== undefined && mappingOf(top) === undefined) return top
  const mappings = mappingsAmong(layers)
  return mappings.length === 0 ? undefined : stacked(mappings)
}

/** Not Object.assign, so that a key named __proto__ remains a key and is rejected as one. */
function stacked(mappings: readonly Mapping[]): Mapping {
  return Object.fromEntries(mappings.flatMap((mapping) => Object.entries(mapping)))
}

function mappingsAmong(values: readonly unknown[]): readonly Mapping[] {
  return values.map(mappingOf).filter((mapping) => mapping !== undefined)
}

function withEndpointDefaults(spec: unknown, layers: readonly Mapping[]): unknown {
  const mapping = mappingOf(spec)
  if (mapping === undefined) return spec
  const { endpointsDefaults, ...rest } = mapping
  // The field belongs to Defaults: in a Service it is kept, so that the schema rejects it.
  const own = mappingOf(layers.at(-1)?.spec)
  const passedOn = own !== undefined && 'endpointsDefaults' in own ? { endpointsDefaults } : {}
  const endpointLayers = mappingsAmong(layers.map((layer) => mappingOf(layer.spec)?.endpointsDefaults))
  const { endpoints } = rest
  if (!Array.isArray(endpoints)) return { ...rest, ...passedOn }
  return { ...rest, ...passedOn, endpoints: endpoints.map((item) => mergeEndpoint(item, endpointLayers)) }
}

/** The endpoint `item` merged over `layers`, lowest first: header values and lists replace. Pure. */
export function mergeEndpoint(item: unknown, layers: readonly Mapping[]): unknown {
  const endpoint = mappingOf(item)
  if (endpoint === undefined) return item
  const all = [...layers, endpoint]
  const headers = mergeLayers(all.map((layer) => layer.headers))
  return { ...stacked(all), ...(headers === undefined ? {} : { headers }) }
}
