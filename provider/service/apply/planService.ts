import type { Region } from '../../../api/contract/org.ts'
import { type Diagnostic, errorAt, warningAt } from '../../protocol/authoring/diagnostics.ts'
import type { AmendmentOf, PlannedOf, StateOf } from '../../protocol/authoring/inferred.ts'
import { type Attribute, typeOf } from '../../protocol/authoring/schema.ts'
import { containsUnknown, equalValues } from '../../protocol/values/equality.ts'
import { formatPath, type Path } from '../../protocol/values/path.ts'
import { UNKNOWN, type Unknown, type Value } from '../../protocol/values/value.ts'
import type { Secret } from '../compile/compileService.ts'
import type { ServiceConfig as Config, EndpointConfig } from '../schema/config.ts'
import { serviceSchema } from '../schema/schema.ts'
import type { Comparison } from './fingerprint.ts'

type Planned = Config | PlannedOf<typeof serviceSchema>
type State = StateOf<typeof serviceSchema>
type Amendment = AmendmentOf<typeof serviceSchema>

/** The attributes of the definition. A change of any of them is a full replace. */
const DEFINITION = ['name', 'interval', 'regions', 'endpoints'] as const

/** Facts about the secrets of a service at plan time. */
export interface SecretsFound {
  /** The comparison of configured secrets with those last sent. */
  readonly comparison: Comparison
  /** Places of sealed values that another writer changed, as in `sealed_key_ids`. */
  readonly overwritten: readonly string[]
}

/** Whether the plan replaces the definition; a changed pause alone does not. Pure. */
export function replacesDefinition(planned: Planned, prior: State): boolean {
  return planned.secrets_revision === UNKNOWN || changesDefinition(planned, prior)
}

function changesDefinition(planned: Planned, prior: State): boolean {
  return DEFINITION.some((name) => !sameAttribute(name, planned[name], prior[name]))
}

/** Whether the plan has regions that the service does not have yet, so that their codes must be checked. Pure. */
export function asksForRegions(
  change:
    | { readonly action: 'create' }
    | { readonly action: 'update'; readonly planned: Config; readonly prior: State },
): boolean {
  return change.action === 'create' || !sameAttribute('regions', change.planned.regions, change.prior.regions)
}

function sameAttribute(name: keyof typeof serviceSchema.attributes, a: unknown, b: unknown): boolean {
  const attribute: Attribute = serviceSchema.attributes[name]
  // True because both are values of this attribute, typed by the schema.
  return equalValues(typeOf(attribute), a as Value, b as Value)
}

/**
 * The plan of a new service, which is active unless it is created paused. Contract: Service states. `planned` is
 * without write-only values. Pure.
 */
export function planCreate(config: Config, planned: Config): Amendment {
  const revision: Amendment = { secrets_revision: revisionAfterSending(planned, 0) }
  if (config.paused === UNKNOWN) return revision
  return config.paused === true ? revision : { ...revision, paused: false, paused_at: null }
}

/** The plan of the computed attributes of an existing service: unchanged, except those that this change affects. Pure. */
export function planUpdate(
  config: Config,
  planned: Config,
  prior: State,
  { comparison, overwritten }: SecretsFound,
): Amendment {
  const isResent = comparison === 'changed' || comparison === 'unknown' || overwritten.length > 0
  const changes = changesDefinition(planned, prior)
  const replaces = isResent || changes
  const paused = config.paused === null ? prior.paused : config.paused
  return {
    created_by_email: prior.created_by_email,
    auto_incident: prior.auto_incident,
    paused,
    paused_at: paused === prior.paused ? prior.paused_at : paused === false ? null : UNKNOWN,
    ...(replaces
      ? planEndpoints(planned, prior)
      : {
          endpoint_ids: prior.endpoint_ids,
          endpoints_blocked: prior.endpoints_blocked,
          sealed_key_ids: prior.sealed_key_ids,
        }),
    secrets_revision: plannedRevision(planned, prior, { changes, isResent }),
  }
}

/**
 * The apply plans again, perhaps with different secrets, such as short-lived tokens, and Terraform refuses a value that
 * was known before and is unknown now. So a change that sends the secrets anyway is counted without comparing them. If
 * they are the only reason, the count is unknown until the apply.
 */
function plannedRevision(
  planned: Config,
  prior: State,
  { changes, isResent }: { readonly changes: boolean; readonly isResent: boolean },
): number | Unknown {
  const before = revisionOf(prior)
  if (changes) return revisionAfterSending(planned, before)
  return isResent ? UNKNOWN : before
}

/** The number of times that the secrets of a service were sent, from its state. Pure. */
export function revisionOf({ secrets_revision }: State): number {
  return Number(secrets_revision ?? 0) || 0
}

/** The revision after the secrets were sent; unknown while the definition has unknown values. */
function revisionAfterSending(planned: Config, before: number): number | Unknown {
  // True because everything in a configuration is a value.
  if (DEFINITION.some((name) => containsUnknown(planned[name] as Value))) return UNKNOWN
  return hasSecrets(planned.endpoints) ? before + 1 : before
}

/** Endpoints with the same URL, name and method keep their ids in a replace (Gap G23), but sealing creates new keys. */
function planEndpoints(planned: Config, prior: State): Amendment {
  const isSame = endpointKeys(planned.endpoints) === endpointKeys(prior.endpoints)
  return {
    endpoint_ids: isSame ? prior.endpoint_ids : UNKNOWN,
    endpoints_blocked: isSame ? prior.endpoints_blocked : UNKNOWN,
    sealed_key_ids: hasSecrets(planned.endpoints) ? UNKNOWN : new Map(),
  }
}

function endpointKeys(endpoints: Config['endpoints'] | State['endpoints']): string | typeof UNKNOWN {
  if (endpoints === UNKNOWN || endpoints === null) return UNKNOWN
  const keys: string[] = []
  for (const endpoint of endpoints) {
    if (endpoint === UNKNOWN || endpoint.http === UNKNOWN || endpoint.http === null) return UNKNOWN
    const { url, name } = endpoint
    const { method } = endpoint.http
    if (url === UNKNOWN || name === UNKNOWN || method === UNKNOWN) return UNKNOWN
    keys.push(JSON.stringify([url, name, method]))
  }
  return keys.join()
}

/** Whether any value may be sealed: one that is unknown, or not configured in plain text. */
function hasSecrets(endpoints: Config['endpoints']): boolean {
  if (endpoints === UNKNOWN) return true
  return endpoints.some((endpoint) => {
    if (endpoint === UNKNOWN || endpoint.http === UNKNOWN) return true
    const { body, headers } = endpoint.http
    if (body === UNKNOWN || headers === UNKNOWN) return true
    const values = [...(body === null ? [] : [body]), ...(headers?.values() ?? [])]
    return values.some((value) => value === UNKNOWN || value.value === null || value.value === UNKNOWN)
  })
}

/**
 * Warnings for secrets that are sent again without a visible change in the configuration. They contain no values. Pure.
 */
export function secretsWarnings(
  secrets: readonly Secret[],
  { comparison, overwritten }: SecretsFound,
): readonly Diagnostic[] {
  const path: Path = ['secrets_revision']
  if (overwritten.length > 0) {
    const detail =
      `The sealed value at ${overwritten.join(', ')} of the endpoints was written by another client, or by an update ` +
      'whose response was lost. All secrets of the service are sent again.'
    return [warningAt(path, 'A secret was overwritten', detail)]
  }
  if (comparison !== 'changed') return []
  const places = secrets.map(({ path }) => formatPath(path)).join(', ')
  const detail = `At least one of ${places} differs from what was last sent. All secrets of the service are sent again.`
  return [warningAt(path, 'A secret changed', detail)]
}

/**
 * Warnings for sealed values that the configuration no longer has and that cannot be recovered. A secret that stays, or
 * moves with its endpoint's URL, is not lost. Pure.
 */
export function lostSecretWarnings(config: Config, prior: State): readonly Diagnostic[] {
  if (config.endpoints === UNKNOWN || config.endpoints.includes(UNKNOWN)) return []
  const { endpoints } = config
  return [...(prior.sealed_key_ids?.keys() ?? [])].flatMap((slot) => {
    const [index = '', ...place] = slot.split('.')
    const url = prior.endpoints?.[Number(index)]?.url
    const isKept = endpoints.some(
      (endpoint, at) =>
        endpoint !== UNKNOWN &&
        (at === Number(index) || endpoint.url === url || endpoint.url === UNKNOWN) &&
        hasValueAt(endpoint.http, place.join('.')),
    )
    if (isKept) return []
    const detail = `The API keeps a sealed value at ${slot} of the endpoints, which this change removes. It cannot be read back.`
    return [warningAt(['endpoints'], 'A sealed value will be lost', detail)]
  })
}

/**
 * Warnings for an endpoint's name that changes from absent to empty, or back. The API distinguishes them and gives the
 * endpoint a new id (Gap G23), but Terraform does not show the change. Pure.
 */
export function emptyNameWarnings(config: Config, prior: State): readonly Diagnostic[] {
  if (config.endpoints === UNKNOWN) return []
  return config.endpoints.flatMap((endpoint, index) => {
    const before = prior.endpoints?.[index]
    if (endpoint === UNKNOWN || endpoint.name === UNKNOWN || before === undefined) return []
    if (endpoint.name === before.name || endpoint.name || before.name) return []
    const path: Path = ['endpoints', index, 'name']
    const [from, to] = endpoint.name === null ? ['an empty string', 'none'] : ['none', 'an empty string']
    const detail =
      `${formatPath(path)} changes from ${from} to ${to}, which the plan does not show. To the API these are two names, ` +
      'and an endpoint of another name is a new one.'
    return [warningAt(path, 'The name of an endpoint changes', detail)]
  })
}

/** Whether `place` (`body`, `headers.Authorization`) is configured or unknown. */
function hasValueAt(http: EndpointConfig['http'], place: string): boolean {
  if (http === UNKNOWN) return true
  if (place === 'body') return http.body !== null
  if (http.headers === UNKNOWN) return true
  const name = place.slice('headers.'.length).toLowerCase()
  return [...(http.headers?.keys() ?? [])].some((key) => key.toLowerCase() === name)
}

/** The error about configured region codes that are not in `regions`, with the valid ones. Pure. */
export function regionProblems(config: Config, regions: readonly Region[]): readonly Diagnostic[] {
  if (config.regions === UNKNOWN) return []
  const codes = regions.map(({ code }) => code)
  const unknown = config.regions.filter((code) => code !== UNKNOWN && !codes.includes(code))
  if (unknown.length === 0) return []
  const detail = `There is no region ${unknown.map(String).join(', ')}. Regions are ${codes.join(', ')}.`
  return [errorAt(['regions'], 'Unknown region', detail)]
}
