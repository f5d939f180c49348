import { STATUS_CODES } from 'node:http'
import { ONE_OF_MAX, TIMEOUT_SECS_MAX } from '../../api/contract/assertion.ts'
import { formatDuration } from '../../api/contract/duration.ts'
import { endpointUrlProblem } from '../../api/contract/endpointUrl.ts'
import { requestHeadersProblem, suggestsSecret } from '../../api/contract/requestHeaders.ts'
import type { AssertionForm } from '../manifest/schema/assertionForm.ts'
import { withoutReferences } from '../manifest/values/variables.ts'
import { counted } from '../text/counts.ts'
import type { SourceValue } from './sourceValue.ts'

/** A value of a header: a text, or the name of the environment variable that holds a secret. */
export type ImportedValue = string | { readonly env: string; readonly prefix?: string }

export type ImportedHeaders = Readonly<Record<string, ImportedValue>>

/** Maximum number of redirects of a monitor that follows them, unless the other tool has a maximum of its own. */
export const REDIRECTS = 10

/** Makes the name of an environment variable for the secret of a place, such as a service and its header. */
export type VariableOf = (place: string) => string

/** Converts the documents of another tool. */
export type ReadServices = (
  documents: readonly SourceValue[],
  variable: VariableOf,
) => readonly ImportedService[]

/** An endpoint of another tool, as far as a manifest can express it. */
export interface ImportedEndpoint {
  readonly url: string
  readonly name?: string | undefined
  /** GET if absent. */
  readonly method?: 'GET' | 'POST' | undefined
  readonly timeoutS?: number | undefined
  /** The timeout as a manifest writes it, where the other tool writes it so too. */
  readonly timeout?: string | undefined
  readonly withDns?: boolean | undefined
  readonly maxRedirects?: number | undefined
  readonly headers?: ImportedHeaders
  readonly body?: ImportedValue | undefined
  readonly assertions: readonly AssertionForm[]
}

/** A service of another tool. */
export interface ImportedService {
  readonly name: string
  readonly intervalS: number
  readonly isPaused: boolean
  readonly labels: Readonly<Record<string, string>>
  /** Absent where the other tool has places of its own. */
  readonly regions?: readonly string[]
  readonly endpoints: readonly ImportedEndpoint[]
  /** Where the other tool defines it, for a note when the API would refuse it. */
  readonly place: SourceValue
}

/** Seconds of a duration such as `30s`, `1m30s` or a number of seconds; `undefined` for anything else. Pure. */
export function secondsOf(value: SourceValue): number | undefined {
  const number = value.number()
  if (number !== undefined) return number
  const text = value.text()?.trim() ?? ''
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined
  const units: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 }
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ''] ?? 0),
    0,
  )
}

/** Whole seconds of an interval, rounded up with a note. */
export function intervalOf(value: SourceValue, usualS: number): number {
  const seconds = secondsOf(value)
  if (seconds === undefined) {
    if (value.isThere) value.note(`the interval is not understood: ${usualS} s is used`)
    return usualS
  }
  const whole = Math.max(1, Math.ceil(seconds))
  if (whole !== seconds) value.note(`the interval is rounded up to ${whole} s: intervals are whole seconds`)
  return whole
}

/**
 * The timeout of an endpoint (seconds): the longest that the API takes, with a note, for a longer one; none for 0, and
 * none, with a note, for one that is not understood.
 */
export function timeoutOf(value: SourceValue, seconds = secondsOf(value)): number | undefined {
  if (seconds === undefined && value.isThere)
    return value.note('the timeout is not understood: that of the server is used')
  if (seconds === undefined || seconds <= 0) return undefined
  if (seconds > TIMEOUT_SECS_MAX) value.note(`the timeout is reduced to ${TIMEOUT_SECS_MAX} s, the maximum`)
  return Math.min(seconds, TIMEOUT_SECS_MAX)
}

/**
 * The method of the monitor `name`: GET, with a note at `place`, for HEAD; `undefined`, with a note, for one that Pharos
 * does not send.
 */
export function methodOf(name: string, value: SourceValue, place = value): 'GET' | 'POST' | undefined {
  const method = (value.text() ?? 'GET').toUpperCase()
  if (method === 'GET' || method === 'POST') return method
  if (method === 'HEAD') {
    place.note('the method HEAD becomes GET, which has the same status')
    return 'GET'
  }
  return place.note(`${name} is left out: Pharos sends GET and POST, not ${method}`)
}

/** `text` as a pattern that matches only itself. Pure. */
export function quotedPattern(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&')
}

/** The URL of the monitor `name`; undefined, with a note, when it is not valid. */
export function urlOf(name: string, value: SourceValue, url = value.text()): string | undefined {
  if (url === undefined) return value.note(`${name} is left out: it has no URL`)
  if (/\$\{?\w+|\{\{/.test(url))
    return value.note(
      `${name} is left out: its URL contains a variable: write the value into the file, or use an Environment afterwards`,
    )
  const problem = endpointUrlProblem(url)
  const secret = problem === undefined ? secretParameter(new URL(url)) : undefined
  if (problem === undefined && secret === undefined) return url
  value.note(
    `${name} is left out: its URL ${problem ?? `has a secret in its query or fragment (${secret}): send it as a header`}`,
  )
  return undefined
}

/** Shortest `code` that is a secret (characters): function keys of Azure have more, codes of countries and such fewer. */
const SECRET_CODE_CHARS_MIN = 40

/** The name of a parameter in the query or the fragment of a URL whose value is a secret. */
function secretParameter({ searchParams, hash }: URL): string | undefined {
  const parameters = [...searchParams, ...new URLSearchParams(hash.slice(1))]
  const found = parameters.find(
    ([name, value]) =>
      suggestsSecret(name) || (name.toLowerCase() === 'code' && value.length >= SECRET_CODE_CHARS_MIN),
  )
  return found?.[0]
}

const SCHEME = /^(Bearer|Basic|Token|ApiKey)\s+(.+)$/is

/**
 * The headers of an endpoint. A value with the name of a secret, one of the names `secrets`, or a variable, becomes a
 * reference to an environment variable, with a note: no secret is copied into a manifest.
 */
export function headersOf(
  entries: readonly (readonly [string, SourceValue])[],
  place: string,
  variable: VariableOf,
  secrets: readonly string[] = [],
): ImportedHeaders {
  const headers: Record<string, ImportedValue> = {}
  for (const [name, value] of entries) {
    const text = value.written()
    if (text === undefined) {
      value.note(`left out: the header ${name} is not a string`)
      continue
    }
    const problem = requestHeadersProblem({ [name]: { value: text } })
    if (problem !== undefined) {
      value.note(`left out: the header ${name} ${problem.message}`)
      continue
    }
    const [, scheme, rest = text] = SCHEME.exec(text) ?? []
    const prefix = scheme === undefined ? {} : { prefix: `${scheme} ` }
    const [, braced, named = braced] = /^(?:\$\{?(\w+)\}?|\{\{\s*(\w+)\s*\}\})$/.exec(rest) ?? []
    if (named !== undefined) headers[name] = { env: named, ...prefix }
    else if (suggestsSecret(name) || secrets.includes(name) || /\$\{|\$[A-Za-z_]|\{\{/.test(rest)) {
      const env = variable(`${place}_${name}`)
      headers[name] = { env, ...prefix }
      value.note(`the value of ${name} is not copied: set the environment variable ${env}`)
    } else headers[name] = text
  }
  return headers
}

/** The header of a user whose password is not copied: a note at `user` names its environment variable. */
export function passwordHeader(user: SourceValue, place: string, variable: VariableOf): ImportedHeaders {
  const env = variable(`${place}_authorization`)
  user.note(`the password of ${place} is not copied: set ${env} to the Base64 of user:password`)
  return { Authorization: { env, prefix: 'Basic ' } }
}

/** The header of a token that is not copied: a note at `place` names its environment variable. */
export function tokenHeader(place: SourceValue, name: string, variable: VariableOf): ImportedHeaders {
  const env = variable(`${name}_authorization`)
  place.note(`the token of ${name} is not copied: set the environment variable ${env}`)
  return { Authorization: { env, prefix: 'Bearer ' } }
}

/** `headers` with the type of a body, unless they name one. Pure. */
export function withContentType(headers: ImportedHeaders, type: string | undefined): ImportedHeaders {
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return type === undefined || isNamed ? headers : { 'Content-Type': type, ...headers }
}

/** `text` as a label: of the characters that a selector takes. Pure. */
export function labelOf(text: string): string {
  const fitting = text.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-')
  return fitting.replace(/^[^a-z0-9]+/, '').replace(/[^a-z0-9]+$/, '') || 'label'
}

/** Labels of names with their values, empty for none. */
export function labelsOf(named: readonly (readonly [string, SourceValue?])[]): ImportedService['labels'] {
  return Object.fromEntries(named.map(([name, value]) => [labelOf(name), value?.written() ?? '']))
}

/** Notes once, at the first of `values`, what none of them carries over: a note for each would bury the others. */
export function noteOnce(values: readonly SourceValue[], message: string): void {
  const there = values.filter(({ isThere }) => isThere)
  const others = new Set(there.map(({ place }) => Object.values(place).join(':'))).size - 1
  const places = others < 1 ? '' : ` (here and in ${counted(others, 'other place')})`
  there[0]?.note(`${message}${places}`)
}

/**
 * The assertion of status codes, ranges and classes such as `200`, `200-299` and `2xx`; `undefined` for others. Of more
 * codes than an assertion takes, those that a standard names are kept, with a note at `place`.
 */
export function statusOf(codes: readonly string[], place: SourceValue): AssertionForm | undefined {
  const ranges = codes.map((code): [number, number] => {
    const [, hundreds] = /^([1-5])xx$/i.exec(code) ?? []
    if (hundreds !== undefined) return [Number(hundreds) * 100, Number(hundreds) * 100 + 99]
    const [, from, to = from] = /^(\d{3})(?:-(\d{3}))?$/.exec(code) ?? []
    return [Number(from), Number(to)]
  })
  if (ranges.length === 0 || ranges.flat().some(Number.isNaN)) return undefined
  const joined: [number, number][] = []
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  const [[from, to] = [0, 0], ...others] = joined
  if (others.length === 0 && from === to) return { status: from }
  if (others.length === 0) {
    const isClass = from % 100 === 0 && to === from + 99
    return { status: isClass ? `${from / 100}xx` : { between: [from, to] } }
  }
  const each = ([first, last]: [number, number]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const all = joined.flatMap(each)
  if (all.length <= ONE_OF_MAX) return { status: { oneOf: all } }
  place.note(
    `left out: status codes without a standard meaning: an assertion has at most ${ONE_OF_MAX} codes`,
  )
  return { status: { oneOf: all.filter((code) => STATUS_CODES[code] !== undefined) } }
}

/** The body of a request; one that mentions a secret or a variable becomes a reference, with a note. */
export function bodyOf(
  value: SourceValue | undefined,
  place: string,
  variable: VariableOf,
  text = value?.text(),
  hasVariable = /\$\{|\{\{\s*\w/.test(text ?? ''),
): ImportedValue | undefined {
  if (text === undefined || !(hasVariable || /passw|secret|token|api-?_?key/i.test(text))) return text
  const env = variable(`${place}_body`)
  const content = hasVariable ? 'contains a variable' : 'may contain a secret'
  value?.note(`the body is not copied, because it ${content}: set the environment variable ${env}`)
  return { env }
}

/** `service` as a manifest with the name `key`, as plain data in the usual order of fields. Pure. */
export function manifestOf(service: ImportedService, key: string, regions: readonly string[]): object {
  const { name, intervalS, isPaused, labels, endpoints } = service
  return {
    apiVersion: 'pharos/v1',
    kind: 'Service',
    metadata: { name: key, ...(Object.keys(labels).length === 0 ? {} : { labels }) },
    // A text that looks like a variable of manifests is escaped.
    spec: withoutReferences({
      ...(name === key ? {} : { name }),
      interval: formatDuration({ secs: intervalS, nanos: 0 }),
      regions: service.regions ?? regions,
      ...(isPaused ? { paused: true } : {}),
      endpoints: endpoints.map(({ timeoutS, headers = {}, assertions, ...endpoint }) => ({
        url: endpoint.url,
        ...(endpoint.name === undefined ? {} : { name: endpoint.name }),
        ...(endpoint.method === 'POST' ? { method: 'POST' } : {}),
        ...(timeoutS === undefined ? {} : { timeout: durationText(timeoutS) }),
        ...(endpoint.timeout === undefined ? {} : { timeout: endpoint.timeout }),
        ...(endpoint.withDns === undefined ? {} : { withDns: endpoint.withDns }),
        ...(endpoint.maxRedirects === undefined ? {} : { maxRedirects: endpoint.maxRedirects }),
        ...(Object.keys(headers).length === 0 ? {} : { headers }),
        ...(endpoint.body === undefined ? {} : { body: endpoint.body }),
        ...(assertions.length === 0 ? {} : { assertions }),
      })),
    }),
  }
}

/** Seconds in the notation of manifests, with a precision of milliseconds. Pure. */
export function durationText(seconds: number): string {
  const ms = Math.max(1, Math.round(seconds * 1_000))
  return formatDuration({ secs: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1_000_000 })
}
