import { ApiError } from '../../api/contract/apiError.ts'
import { parsedUrl } from '../../api/contract/endpointUrl.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { factsOf } from '../../monitoring/protocol/responseFacts.ts'
import { isRegionCode, seriesNumber } from '../domain/regions.ts'
import type { State } from '../domain/serviceState.ts'
import { LATEST_SERIES_MAX, type LatestResult } from '../results/measurements/latestResults.ts'
import type { MonitoringStore, StoredDefinition } from '../store/monitoringStore.ts'
import { assertOrg } from '../store/shared/readServices.ts'
import type { Store } from '../store/store.ts'

/** Maximum number of series on one page, each of which takes a dozen lines. */
const SERIES_MAX = 5_000
/** Number of services read at a time. */
const PAGE_SERVICES = 200
const FILTERS = ['org', 'region', 'service'] as const
/** States of an endpoint. An open maintenance window of its service is shown instead of the measured state. */
const STATES: readonly (State | 'maintenance')[] = ['up', 'degraded', 'down', 'unknown', 'maintenance']
const MICROSECONDS = 1_000_000

/** Dependencies of the page. */
export interface ProbeParts {
  readonly store: Pick<
    MonitoringStore,
    'definitionsAfter' | 'definitionOf' | 'endpointNumbers' | 'historyPolicy'
  > &
    Pick<Store, 'listOrgs'>
  readonly nowMs: () => number
  /** Last results of at most LATEST_SERIES_MAX series. Rejects while they cannot be read. */
  readonly latest: (series: readonly number[]) => Promise<readonly LatestResult[]>
}

/** A series and the labels of its metrics. */
interface Probe {
  readonly series: number
  readonly service: string
  readonly endpoint: string
  /** Labels of the endpoint, and further ones of its region, as text. */
  readonly endpointLabels: string
  readonly labels: string
}

/**
 * The last result of every series that `query` selects (org, region, service), in the text format of Prometheus and
 * with the names of blackbox_exporter. Rejects with `invalid` for any other query and for more than SERIES_MAX series.
 * Rejects with `not_found` for an organisation or service that does not exist, because an empty scrape would look
 * healthy.
 */
export async function renderProbes(query: URLSearchParams, parts: ProbeParts): Promise<string> {
  const filter = filterOf(query)
  const probes = await selectProbes(filter, parts.store)
  if (probes.length === 0) await assertExists(filter, parts.store)
  const families = makeFamilies()
  const endpoints = new Set<string>()
  const inMaintenance = await servicesInMaintenance(parts)
  for (let at = 0; at < probes.length; at += LATEST_SERIES_MAX) {
    const page = new Map(probes.slice(at, at + LATEST_SERIES_MAX).map((probe) => [probe.series, probe]))
    for (const result of await parts.latest([...page.keys()])) {
      const probe = page.get(result.series)
      if (probe === undefined) continue
      addResult(families, probe, result)
      const state = inMaintenance.has(probe.service) ? 'maintenance' : result.endpointState
      if (!endpoints.has(probe.endpoint)) addEndpoint(families, probe, state)
      endpoints.add(probe.endpoint)
    }
  }
  return Object.values(families)
    .filter(({ lines }) => lines.length > 0)
    .map(({ name, help, lines }) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('\n')}\n`)
    .join('')
}

type Filter = Partial<Record<(typeof FILTERS)[number], string>>

function filterOf(query: URLSearchParams): Filter {
  const filter: Filter = {}
  for (const [sent, value] of query) {
    const name = FILTERS.find((known) => known === sent)
    if (name === undefined) throw invalid(`unknown parameter: this page takes ${FILTERS.join(', ')}`)
    if (filter[name] !== undefined) throw invalid(`${name}: must be given once`)
    filter[name] = value
  }
  if (filter.region !== undefined && !isRegionCode(filter.region)) throw invalid('region: is not a region')
  return filter
}

const invalid = (message: string): ApiError => new ApiError('invalid', message)

async function selectProbes(filter: Filter, store: ProbeParts['store']): Promise<readonly Probe[]> {
  const probes: Probe[] = []
  for await (const definition of definitionsOf(filter, store)) {
    const { id, orgId, runningIn } = definition
    const regions = runningIn.filter((region) => isRegionCode(region) && (filter.region ?? region) === region)
    if (regions.length === 0 || (filter.org ?? orgId) !== orgId) continue
    probes.push(...probesOf(definition, regions, await store.endpointNumbers([id])))
    if (probes.length > SERIES_MAX) {
      throw invalid(`more than ${SERIES_MAX} series: select fewer with ${FILTERS.join(', ')}`)
    }
  }
  return probes
}

async function assertExists({ org, service }: Filter, store: ProbeParts['store']): Promise<void> {
  if (org !== undefined) await assertOrg(store, org)
  if (service === undefined) return
  const definition = await store.definitionOf(service)
  if (definition === undefined) throw new ApiError('not_found', `there is no service ${service}`)
  if ((org ?? definition.orgId) !== definition.orgId) {
    throw new ApiError('not_found', `service ${service} belongs to another organisation`)
  }
}

/** Services with an open maintenance window. */
async function servicesInMaintenance({ store, nowMs }: ProbeParts): Promise<ReadonlySet<string>> {
  const atMs = nowMs()
  const { maintenance } = await store.historyPolicy(atMs)
  return new Set(maintenance.filter(({ fromS }) => fromS * 1_000 <= atMs).map(({ serviceId }) => serviceId))
}

async function* definitionsOf(
  { service }: Filter,
  store: ProbeParts['store'],
): AsyncGenerator<StoredDefinition, void> {
  if (service !== undefined) {
    const definition = await store.definitionOf(service)
    if (definition !== undefined) yield definition
    return
  }
  let last = ''
  for (;;) {
    const page = await store.definitionsAfter(last, PAGE_SERVICES)
    yield* page
    const newest = page.at(-1)
    if (newest === undefined) return
    last = newest.id
    // Other work runs between the pages.
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

function probesOf(
  { id, orgId, text }: StoredDefinition,
  regions: readonly string[],
  numbers: ReadonlyMap<string, number>,
): readonly Probe[] {
  // True because only rendered ServiceResponses are stored.
  const { name, endpoints } = JSON.parse(text) as ServiceResponse
  return endpoints.flatMap(({ id: endpoint, url }) => {
    const number = numbers.get(endpoint)
    if (number === undefined) return []
    const shown = parsedUrl(url)
    const instance = shown === undefined ? '' : `${shown.origin}${shown.pathname}`
    const endpointLabels = labelText({ org: orgId, service: id, service_name: name, endpoint, instance })
    return regions.map((region) => ({
      series: seriesNumber(number, region),
      service: id,
      endpoint,
      endpointLabels,
      labels: `${endpointLabels},${labelText({ region })}`,
    }))
  })
}

function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')
}

/** `value` escaped for the text format of Prometheus. */
function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

interface Family {
  readonly name: string
  readonly help: string
  readonly lines: string[]
}

type Families = ReturnType<typeof makeFamilies>

function makeFamilies() {
  const family = (name: string, help: string): Family => ({ name, help, lines: [] })
  return {
    success: family('probe_success', 'Whether the last check was up or degraded; absent while unknown'),
    duration: family('probe_duration_seconds', 'Time of the last check, redirects included'),
    dns: family('probe_dns_lookup_time_seconds', 'Time of the DNS lookups of the last check'),
    phases: family(
      'probe_http_duration_seconds',
      'Time of the phases of the last check, summed over redirects',
    ),
    status: family('probe_http_status_code', 'Status of the last response; 0 without one'),
    version: family('probe_http_version', 'Version of HTTP of the last response; 0 without one'),
    redirects: family('probe_http_redirects', 'Redirects that the last check followed'),
    ssl: family('probe_http_ssl', 'Whether the last response was received over TLS'),
    tls: family('probe_tls_version_info', '1 for the version of TLS of the last response'),
    ip: family('probe_ip_protocol', '4 or 6, the version of IP of the last check; 0 without an address'),
    expiry: family(
      'probe_ssl_earliest_cert_expiry',
      'Earliest expiry in the certificate chains of the endpoint, in seconds since the epoch',
    ),
    state: family(
      'pharos_endpoint_state',
      '1 for the state of the endpoint across all its regions, or for maintenance; 0 for others',
    ),
  }
}

function addResult(families: Families, { labels }: Probe, result: LatestResult): void {
  if (result.state === 'unknown') return
  const { status, totalUs, dnsUs, connectUs, tlsUs, waitUs, bodyUs } = result.last
  const add = (family: Family, value: number, more = ''): void => {
    family.lines.push(`${family.name}{${labels}${more}} ${value}`)
  }
  add(families.success, result.state === 'down' ? 0 : 1)
  add(families.duration, totalUs / MICROSECONDS)
  add(families.dns, dnsUs / MICROSECONDS)
  const phases = { resolve: dnsUs, connect: connectUs, tls: tlsUs, processing: waitUs, transfer: bodyUs }
  for (const [phase, us] of Object.entries(phases)) {
    add(families.phases, us / MICROSECONDS, `,phase="${phase}"`)
  }
  add(families.status, status)
  const { httpVersion, redirects, tlsVersion, ipVersion } = factsOf(result.last.flags)
  add(families.version, Number(httpVersion ?? 0))
  add(families.redirects, redirects)
  add(families.ssl, tlsVersion === null ? 0 : 1)
  if (tlsVersion !== null) add(families.tls, 1, `,version="${tlsVersion}"`)
  add(families.ip, ipVersion ?? 0)
  if (result.certificateEndS !== null) add(families.expiry, result.certificateEndS)
}

function addEndpoint(
  { state: family }: Families,
  { endpointLabels }: Probe,
  shown: (typeof STATES)[number],
): void {
  for (const state of STATES) {
    family.lines.push(`${family.name}{${endpointLabels},state="${state}"} ${shown === state ? 1 : 0}`)
  }
}
