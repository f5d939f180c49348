import { compareDurations, parseDuration } from '../../../api/contract/duration.ts'
import type { EndpointInput, SensitiveInput, ServiceRequest } from '../../../api/contract/service.ts'
import type { Diagnostic } from '../../protocol/authoring/diagnostics.ts'
import type { Path } from '../../protocol/values/path.ts'
import { UNKNOWN, type Unknown } from '../../protocol/values/value.ts'
import type { EndpointConfig, ServiceConfig } from '../schema/config.ts'
import {
  compileAssertion,
  compileDuration,
  orElse,
  problemAt,
  SOME_ASSERTION,
  toNumber,
} from './compileAssertion.ts'

type HttpConfig = Exclude<EndpointConfig['http'], Unknown>
type ValueConfig = Exclude<Exclude<HttpConfig['body'], Unknown>, null>

/** A secret of the configuration and its place; `value` may be unknown. */
export interface Secret {
  readonly path: Path
  readonly value: string | Unknown
}

/** A configuration compiled to a request. */
export interface Compiled {
  /** Unknown values have valid placeholders, so the request of an unknown configuration must not be sent. */
  readonly request: ServiceRequest
  readonly secrets: readonly Secret[]
  /** Problems with the form of the configuration. The rules of the contract are not checked here. */
  readonly problems: readonly Diagnostic[]
}

/** Collects problems and secrets during compilation. */
interface Findings {
  readonly problems: Diagnostic[]
  readonly secrets: Secret[]
}

const NO_TIME = { secs: 0, nanos: 0 } as const

// The placeholder for an unknown value passes every rule, so that the known values are still checked.
const SOME_ENDPOINT: EndpointInput = {
  url: 'https://unknown.invalid/',
  call: { Http: { method: 'GET', timeout: null } },
  assertions: [],
}

/** Compiles `config` to a request. Pure. */
export function compileService(config: ServiceConfig): Compiled {
  const findings: Findings = { problems: [], secrets: [] }
  const endpoints =
    config.endpoints === UNKNOWN
      ? [SOME_ENDPOINT]
      : config.endpoints.map((endpoint, index) =>
          endpoint === UNKNOWN ? SOME_ENDPOINT : compileEndpoint(endpoint, ['endpoints', index], findings),
        )
  const request: ServiceRequest = {
    name: orElse(config.name, 'unknown'),
    interval_secs: compileInterval(config.interval, findings),
    regions:
      config.regions === UNKNOWN
        ? ['unknown']
        : config.regions.map((region, index) => orElse(region, `unknown-${index}`)),
    endpoints,
  }
  checkTimeouts(config.timeouts, findings)
  return { request, ...findings }
}

function checkTimeouts(timeouts: ServiceConfig['timeouts'], findings: Findings): void {
  if (timeouts === UNKNOWN || timeouts === null) return
  for (const [operation, text] of Object.entries(timeouts)) {
    const path: Path = ['timeouts', operation]
    const duration = compileDuration(text, path, findings)
    if (compareDurations(duration, NO_TIME) === 0) {
      findings.problems.push(problemAt(path, 'must be longer than 0s: omit it for the default'))
    }
  }
}

function compileInterval(interval: string | Unknown, { problems }: Findings): number {
  if (interval === UNKNOWN) return 60
  const duration = parseDuration(interval)
  if (duration !== undefined && duration.nanos === 0) return duration.secs
  problems.push(problemAt(['interval'], 'must be a whole number of seconds, such as 30s, 5m or 1m30s'))
  return 60
}

/** Compiles the endpoint at `path`. Adds its problems and secrets to `findings`. */
export function compileEndpoint(endpoint: EndpointConfig, path: Path, findings: Findings): EndpointInput {
  const { assertions } = endpoint
  return {
    url: orElse(endpoint.url, SOME_ENDPOINT.url),
    name: orElse(endpoint.name, null),
    call:
      endpoint.http === UNKNOWN
        ? SOME_ENDPOINT.call
        : compileHttp(endpoint.http, [...path, 'http'], findings),
    assertions:
      assertions === UNKNOWN || assertions === null
        ? []
        : assertions.map((assertion, index) =>
            assertion === UNKNOWN
              ? SOME_ASSERTION
              : compileAssertion(assertion, [...path, 'assertions', index], findings),
          ),
  }
}

function compileHttp(http: HttpConfig, path: Path, findings: Findings): EndpointInput['call'] {
  const { body, headers, timeout } = http
  const compiledHeaders =
    headers === UNKNOWN || headers === null
      ? null
      : Object.fromEntries(
          [...headers].map(([name, header]) => [
            name,
            header === UNKNOWN
              ? { value: '' }
              : compileValue(header, [...path, 'headers', { key: name }], findings),
          ]),
        )
  return {
    Http: {
      // True once the rules of the contract have been applied, as they are to every request before it is sent.
      method: orElse(http.method, 'GET') as 'GET',
      timeout: timeout === null ? null : compileDuration(timeout, [...path, 'timeout'], findings),
      max_redirects_to_follow: http.max_redirects === null ? null : toNumber(http.max_redirects),
      with_dns: orElse(http.with_dns, null),
      body: body === UNKNOWN || body === null ? null : compileValue(body, [...path, 'body'], findings),
      headers: compiledHeaders,
    },
  }
}

/** Compiles a body or header value. A secret is recorded with its place. */
function compileValue(config: ValueConfig, path: Path, findings: Findings): SensitiveInput {
  const { value, value_wo } = config
  const maybe = [value, value_wo].filter((given) => given !== null)
  if (maybe.length === 0) {
    findings.problems.push(
      problemAt(path, 'must have either value or value_wo (a sealed value cannot be read back)'),
    )
  } else if (maybe.length === 2 && !maybe.includes(UNKNOWN)) {
    findings.problems.push(problemAt(path, 'must have only one of value and value_wo'))
  }
  // A plain value is compared directly and needs no version.
  if (typeof value === 'string' && value_wo === null && typeof config.value_wo_version === 'string') {
    findings.problems.push(
      problemAt([...path, 'value_wo_version'], 'belongs to value_wo: a changed value is sent without it'),
    )
  }
  if (value_wo === null) return { value: orElse(value, '') ?? '' }
  findings.secrets.push({ path: [...path, 'value_wo'], value: value_wo })
  return { value: orElse(value_wo, ''), sensitive: true }
}
