import type { Assertion } from '../../api/contract/assertion.ts'
import { type Duration, formatDuration } from '../../api/contract/duration.ts'
import type { EndpointOutput, SensitiveOutput, ServiceResponse } from '../../api/contract/service.ts'
import { ourName, PHASES } from '../service/operators.ts'
import { freeLabel } from './labels.ts'

/** Longest call that is written on one line (characters). */
const LINE_CHARS_MAX = 90

/** What the layer exports, in the order in which the program imports it. */
const LAYER = [
  'body',
  'dns',
  'get',
  'header',
  'latency',
  'literal',
  'MonitoredService',
  'PharosProvider',
  'post',
  'secretFromEnv',
  'status',
] as const

/** What no service's construct may be called: the program's other construct, and a name that `constructs` takes for used. */
const TAKEN = ['pharos', 'constructor']

/**
 * A CDKTF program that takes `services` over as they are, on the typed layer: a construct with an import for each.
 * Sealed values cannot be read, so that each is a secret from an environment variable. Pure.
 */
export function estateProgram(services: readonly ServiceResponse[]): string {
  const taken = new Set(TAKEN)
  const labelled = services.map((service) => ({ service, label: freeLabel(service.name, 'service', taken) }))
  const secrets: string[] = []
  const secretFor = (place: string): string => {
    const variable = `TF_VAR_${freeLabel(place, 'secret', taken)}`
    secrets.push(variable)
    return `secretFromEnv('${variable}')`
  }
  const constructs = labelled.map(({ service, label }) => serviceText(service, label, secretFor))
  const code = ['PharosProvider', ...constructs].join('\n').replaceAll(/'(?:[^'\\]|\\.)*'/g, "''")
  const imported = LAYER.filter((name) => new RegExp(`(?<!\\.)\\b${name}\\b`).test(code))
  return `import { App, TerraformStack } from 'cdktf'
import {
${imported.map((name) => `  ${name},`).join('\n')}
} from 'pharos/cdktf'

${secretsComment(secrets)}const app = new App()
const stack = new TerraformStack(app, 'estate')
new PharosProvider(stack, 'pharos')

${constructs.map((text) => `${text}\n`).join('\n')}
app.synth()
`
}

function secretsComment(variables: readonly string[]): string {
  if (variables.length === 0) return ''
  return `// The API does not show sealed values. Set these where terraform runs; they are sent with the next change.
${variables.map((variable) => `//   ${variable}`).join('\n')}
`
}

type SecretFor = (place: string) => string

function serviceText(service: ServiceResponse, label: string, secretFor: SecretFor): string {
  const endpoints = service.endpoints.map((endpoint, index) =>
    endpointText(endpoint, (place) => secretFor(`${label}_${index}_${place}`)),
  )
  return `new MonitoredService(stack, '${label}', {
  name: ${text(service.name)},
  interval: '${formatDuration({ secs: service.interval_secs, nanos: 0 })}',
  regions: ${list(service.regions.map(text), 2)},
  endpoints: ${list(endpoints, 2)},
}).importFrom('${service.id}')`
}

/** The builder of an endpoint, with a line for each call. It starts where a value may, inside a list. */
function endpointText(endpoint: EndpointOutput, secretFor: SecretFor): string {
  const { Http: http } = endpoint.call
  const { headers, body, timeout, with_dns, max_redirects_to_follow: redirectsMax } = http
  const calls: string[] = []
  if (endpoint.name != null) calls.push(`named(${text(endpoint.name)})`)
  if (timeout !== null) calls.push(`timeout(${durationText(timeout)})`)
  if (redirectsMax != null) calls.push(`followRedirects(${redirectsMax})`)
  if (with_dns != null) calls.push(with_dns ? 'withDns()' : 'withDns(false)')
  for (const [name, value] of Object.entries(headers ?? {})) {
    calls.push(valueCall('header', 'secretHeader', value, [text(name)], () => secretFor(name)))
  }
  if (body != null) calls.push(valueCall('body', 'secretBody', body, [], () => secretFor('body')))
  const assertions = endpoint.assertions.map(assertionText)
  calls.push(assertions.length === 0 ? 'expectAnyAnswer()' : `expect${args(assertions, 6)}`)
  const start = `${http.method === 'GET' ? 'get' : 'post'}(${text(endpoint.url)})`
  return [start, ...calls.map((call) => `      .${call}`)].join('\n')
}

function valueCall(
  plain: string,
  sealed: string,
  value: SensitiveOutput,
  names: readonly string[],
  secret: () => string,
): string {
  return 'Plain' in value
    ? `${plain}(${[...names, text(value.Plain)].join(', ')})`
    : `${sealed}(${[...names, secret()].join(', ')})`
}

/** A union's keys: those of each member, not only what all have. */
type KeyOf<Union> = Union extends unknown ? keyof Union : never
type StatusOperator = KeyOf<Extract<Assertion, { StatusCode: unknown }>['StatusCode']['expected']>
type DurationOperator = KeyOf<Extract<Assertion, { DnsResoltion: unknown }>['DnsResoltion']['expected']>
type TextOperator = KeyOf<Extract<Assertion, { Body: unknown }>['Body']['matcher']>

const STATUS_METHODS: Readonly<Record<StatusOperator, string>> = {
  Eq: 'is',
  NotEq: 'isNot',
  GreaterThan: 'above',
  GreaterOrEqual: 'atLeast',
  LessThan: 'below',
  LessOrEqual: 'atMost',
  Between: 'between',
  OneOf: 'oneOf',
}
const DURATION_METHODS: Readonly<Record<DurationOperator, string>> = {
  LessThan: 'below',
  LessOrEqual: 'atMost',
  Between: 'between',
}
const TEXT_METHODS: Readonly<Record<TextOperator, string>> = {
  Equals: 'equals',
  Contains: 'contains',
  StartsWith: 'startsWith',
  EndsWith: 'endsWith',
  Regex: 'matches',
}

function assertionText(assertion: Assertion): string {
  if ('StatusCode' in assertion) {
    return `status.${operation(STATUS_METHODS, assertion.StatusCode.expected, String)}`
  }
  if ('Latency' in assertion) {
    const { l_type, expected } = assertion.Latency
    return `latency.${ourName(PHASES, l_type)}.${operation(DURATION_METHODS, expected, durationText)}`
  }
  if ('DnsResoltion' in assertion) {
    return `dns.${operation(DURATION_METHODS, assertion.DnsResoltion.expected, durationText)}`
  }
  if ('Header' in assertion) {
    const { name, matcher } = assertion.Header
    return `header(${text(name)}).${operation(TEXT_METHODS, matcher, text)}`
  }
  return `body.${operation(TEXT_METHODS, assertion.Body.matcher, text)}`
}

/** The call that says the one operator in `tagged`, with `write` for each of its operands. */
function operation<Operand>(
  methods: Readonly<Record<string, string>>,
  tagged: Readonly<Record<string, Operand | readonly Operand[]>>,
  write: (operand: Operand) => string,
): string {
  const [[operator, operands] = ['', []]] = Object.entries(tagged)
  return `${methods[operator]}(${[operands]
    .flat()
    .map((operand) => write(operand as Operand))
    .join(', ')})`
}

function durationText(duration: Duration): string {
  return `'${formatDuration(duration)}'`
}

/** `value` as an expression that Terraform takes as it is. */
function text(value: string): string {
  const quoted = `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  return /[$%]\{/.test(value) ? `literal(${quoted})` : quoted
}

function list(values: readonly string[], indent: number): string {
  return bracketed('[', values, ']', indent)
}

function args(values: readonly string[], indent: number): string {
  return bracketed('(', values, ')', indent)
}

function bracketed(open: string, values: readonly string[], close: string, indent: number): string {
  const line = `${open}${values.join(', ')}${close}`
  if (line.length <= LINE_CHARS_MAX && !line.includes('\n')) return line
  const margin = ' '.repeat(indent)
  return `${open}\n${values.map((value) => `${margin}  ${value},\n`).join('')}${margin}${close}`
}
