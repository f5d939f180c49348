import { formatDuration } from '../../api/contract/duration.ts'
import type { EndpointOutput, ServiceResponse } from '../../api/contract/service.ts'
import { exportAssertion } from '../manifest/schema/assertionForm.ts'
import { API_VERSION } from '../manifest/schema/serviceManifest.ts'
import { withoutReferences } from '../manifest/values/variables.ts'

type Output = NonNullable<EndpointOutput['call']['Http']['body']>

/**
 * The manifest of `service` with the name `key`, as plain data in the usual order of fields. A sealed value becomes a
 * reference to an environment variable named after its place. Pure.
 */
export function exportService(
  service: ServiceResponse,
  key: string,
  variable: NameVariable = variableNames(),
): object {
  return {
    apiVersion: API_VERSION,
    kind: 'Service',
    metadata: { name: key, id: service.id },
    // Texts that look like variables are escaped, so that the manifest compiles to the same service.
    spec: withoutReferences({
      ...(service.name === key ? {} : { name: service.name }),
      interval: formatDuration({ secs: service.interval_secs, nanos: 0 }),
      regions: service.regions,
      ...(service.paused_at == null ? {} : { paused: true }),
      endpoints: service.endpoints.map((endpoint, index) =>
        exportEndpoint(endpoint, service.endpoints.length === 1 ? key : `${key}_${index + 1}`, variable),
      ),
    }),
  }
}

function exportEndpoint(endpoint: EndpointOutput, place: string, variable: NameVariable): object {
  const { method, timeout, max_redirects_to_follow, with_dns, headers, body } = endpoint.call.Http
  const named = Object.entries(headers ?? {})
  return {
    url: endpoint.url,
    ...(endpoint.name == null ? {} : { name: endpoint.name }),
    ...(method === 'GET' ? {} : { method }),
    ...(timeout === null ? {} : { timeout: formatDuration(timeout) }),
    ...(max_redirects_to_follow == null ? {} : { maxRedirects: max_redirects_to_follow }),
    ...(with_dns == null ? {} : { withDns: with_dns }),
    ...(named.length === 0
      ? {}
      : {
          headers: Object.fromEntries(
            named.map(([name, value]) => [name, exportValue(value, `${place}_${name}`, variable)]),
          ),
        }),
    ...(body == null ? {} : { body: exportValue(body, `${place}_body`, variable) }),
    ...(endpoint.assertions.length === 0 ? {} : { assertions: endpoint.assertions.map(exportAssertion) }),
  }
}

function exportValue(value: Output, place: string, variable: NameVariable): string | object {
  if ('Plain' in value) return value.Plain
  return { env: variable(place) }
}

/** Names the environment variable for the secret at a place. */
type NameVariable = (place: string) => string

/** A function that makes names distinct from those before it, by a number after `separator`. */
export function distinctNames(separator: string): (base: string) => string {
  const taken = new Set<string>()
  return (base) => {
    let name = base
    for (let number = 2; taken.has(name); number += 1) name = `${base}${separator}${number}`
    taken.add(name)
    return name
  }
}

/**
 * Unique names for the variables of one export: `shop-2` and the second endpoint of `shop` would have the same name,
 * and one of the services would get the other's secret.
 */
export function variableNames(): NameVariable {
  const distinct = distinctNames('_')
  return (place) => distinct(variableName(place))
}

function variableName(place: string): string {
  const name = place.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
  // Variables of Pharos itself are refused in manifests, and a name does not start with a digit.
  return /^\d/.test(name) || name.startsWith('PHAROS_') ? `PROBE_${name}` : name
}

/** A manifest name for each of `names` of services: converted to a valid one, with a number for duplicates. Pure. */
export function exportKeys(names: readonly string[]): readonly string[] {
  const distinct = distinctNames('-')
  return names.map((name) => distinct(fittingName(name)))
}

/** Longest name without a number (characters), so that a number still fits. */
const BASE_CHARS_MAX = 100

function fittingName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
  const fitting = plain.replaceAll(/[^a-z0-9._]+/g, '-').slice(0, BASE_CHARS_MAX)
  return fitting.replace(/^[^a-z0-9]+/, '').replace(/[^a-z0-9]+$/, '') || 'service'
}

/** Names of the environment variables in exported `manifests`, without duplicates. Pure. */
export function variablesOf(manifests: readonly unknown[]): readonly string[] {
  const names = (value: unknown): readonly string[] => {
    if (typeof value !== 'object' || value === null) return []
    if ('env' in value && typeof value.env === 'string') return [value.env]
    return Object.values(value).flatMap(names)
  }
  // Labels are texts, and one may be called env.
  const specs = manifests.map((manifest) => Object(manifest).spec)
  return [...new Set(specs.flatMap(names))]
}
