import {
  type Assertion,
  type AssertionKind,
  type AssertionOperator,
  assertionParts,
  type DurationOperator,
  type IntegerOperator,
  type TextOperator,
} from '../../api/contract/assertion.ts'
import { type Duration, formatDuration } from '../../api/contract/duration.ts'
import type { EndpointOutput, SensitiveOutput, ServiceResponse } from '../../api/contract/service.ts'
import { attributeNameOf, INTEGER_OPERATORS, PHASES } from '../service/schema/operators.ts'
import { freeLabel } from './labels.ts'

/** Longest call that is written on one line (characters). */
const LINE_CHARS_MAX = 90

/** Supported libraries, which differ in the name of the import. */
export const CDK_LIBRARIES = ['cdktf', 'cdktn'] as const
export type Library = (typeof CDK_LIBRARIES)[number]

/** Exports of the typed layer, in the order of the import. */
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

/** Reserved construct ids: the program's other construct, and a name that `constructs` reserves. */
const TAKEN = ['pharos', 'constructor']

/**
 * A CDKTF program that adopts `services` unchanged, on the typed layer: a construct with an import for each. Sealed values cannot
 * be read, so each is a secret from an environment variable. Pure.
 */
export function estateProgram(services: readonly ServiceResponse[], library: Library = 'cdktf'): string {
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
  return `import { App, TerraformStack } from '${library}'
import {
${imported.map((name) => `  ${name},`).join('\n')}
} from 'pharos/${library}'

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
  regions: ${list(service.regions.map(text), 2)},${service.paused_at == null ? '' : '\n  paused: true,'}
  endpoints: ${list(endpoints, 2)},
}).importFrom('${service.id}')`
}

/** The builder of an endpoint, with a line for each call, as an item of a list. */
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
  // Without an assertion on the status the layer would add one.
  if (!endpoint.assertions.some((assertion) => 'StatusCode' in assertion))
    calls.push('withoutStatusDefault()')
  const assertions = endpoint.assertions.map(assertionText)
  if (assertions.length > 0) calls.push(`expect${args(assertions, 6)}`)
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

const STATUS_METHODS: Readonly<Record<IntegerOperator, string>> = {
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

/** The function of the layer for each kind, before the call of the operator. */
const MATCHERS: Readonly<Record<AssertionKind, (subject: string) => string>> = {
  StatusCode: () => 'status',
  Latency: (phase) => `latency.${attributeNameOf(PHASES, phase)}`,
  DnsResoltion: () => 'dns',
  Header: (name) => `header(${text(name)})`,
  Body: () => 'body',
}

function assertionText(assertion: Assertion): string {
  const parts = assertionParts(assertion)
  const { kind, subject = '' } = parts
  // The methods of the layer refuse numbers that are not status codes; the API accepts any integer.
  if (kind === 'StatusCode' && !Object.values(parts.operator).flat().every(isStatusCode)) {
    return `{ statusCode: ${plainOperator(parts.operator)} }`
  }
  return `${MATCHERS[kind](subject)}.${operatorText(parts)}`
}

function operatorText({ operators, operator }: AssertionOperator): string {
  switch (operators) {
    case 'integer':
      return operation(STATUS_METHODS, operator, String)
    case 'duration':
      return operation(DURATION_METHODS, operator, durationText)
    case 'text':
      return operation(TEXT_METHODS, operator, text)
  }
}

function isStatusCode(operand: number): boolean {
  return operand >= 100 && operand <= 999
}

/** The operator of a status code in the form of the bindings, such as `{ between: [0, 99] }`. */
function plainOperator(expected: object): string {
  const [[operator, operands] = ['', 0]] = Object.entries(expected)
  const name = attributeNameOf(INTEGER_OPERATORS, operator)?.replace('one_of', 'oneOf')
  return `{ ${name}: ${Array.isArray(operands) ? `[${operands.join(', ')}]` : operands} }`
}

/** The call of the operator in `tagged`; `write` writes each operand. */
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

/** Matches text that CDKTF treats as a token. */
const TOKEN_MARK = /[$#&]\{TfToken\[|-[\d.]+e\+/
/** Such a text as a Terraform expression, in which neither CDKTF nor Terraform finds a marker. */
const MARKS = /^\ufeff|[$%]|[#&](?=\{TfToken\[)|-(?=[\d.]+e\+)/g
/** Characters that editors do not show, or show as others. */
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/** `value` as a Terraform expression. */
function text(value: string): string {
  const hasToken = TOKEN_MARK.test(value)
  const escaped = hasToken ? value.replaceAll(MARKS, (mark) => `\${"${mark}"}`) : value
  const json = JSON.stringify(escaped).slice(1, -1)
  const shown = json.replaceAll(
    UNSEEN,
    (unseen) => `\\u${unseen.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const quoted = `'${shown.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  return !hasToken && /[$%]\{|^\ufeff/.test(value) ? `literal(${quoted})` : quoted
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
