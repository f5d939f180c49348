import type { AssertionForm } from '../manifest/schema/assertionForm.ts'
import {
  bodyOf,
  headersOf,
  type ImportedService,
  intervalOf,
  labelOf,
  labelsOf,
  methodOf,
  noteOnce,
  quotedPattern,
  REDIRECTS,
  type ReadServices,
  timeoutOf,
  urlOf,
  type VariableOf,
  withContentType,
} from './importedService.ts'
import type { SourceValue } from './sourceValue.ts'

/** Default interval (seconds). */
const INTERVAL_S = 60

/** The services of a Gatus configuration: one for each endpoint. */
export const fromGatus: ReadServices = (documents, variable) => {
  for (const document of documents) {
    for (const key of ['external-endpoints', 'suites', 'announcements', 'tunneling', 'connectivity']) {
      if (document.get(key).isThere) document.get(key).note(`left out: no equivalent of ${key}`)
    }
  }
  const settings = (key: string) => documents.map((document) => document.get(key))
  noteOnce(
    settings('maintenance'),
    'left out: maintenance: create windows (pharos-server maintenance create)',
  )
  noteOnce(settings('alerting'), 'left out: alerting: create channels (pharos-server channel create)')
  const services = documents
    .flatMap((document) => document.first('endpoints', 'services').items())
    .flatMap((endpoint) => serviceOf(endpoint, variable) ?? [])
  noteOnceForAll(services.map(({ place }) => place))
  return services
}

/** Notes what the services of `endpoints` have in common, once for all of them. */
function noteOnceForAll(endpoints: readonly SourceValue[]): void {
  for (const key of ['alerts', 'maintenance-windows', 'ui']) {
    noteOnce(
      endpoints.map((endpoint) => endpoint.get(key)),
      `left out: no equivalent of ${key}`,
    )
  }
  noteOnce(
    endpoints.flatMap((endpoint) => endpoint.get('conditions').items().filter(isOnExpiry)),
    'left out: Pharos watches the expiry of every certificate, and notifies the channels',
  )
}

function serviceOf(endpoint: SourceValue, variable: VariableOf): ImportedService | undefined {
  const name = endpoint.get('name').text() ?? 'endpoint'
  const url = endpoint.get('url')
  for (const kind of ['dns', 'ssh', 'grpc']) {
    const other = endpoint.get(kind)
    if (other.isThere) return other.note(`${name} is left out: Pharos checks HTTP only, not ${kind}`)
  }
  const scheme = /^(\w+):\/\//.exec(url.text() ?? '')?.[1]?.toLowerCase()
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https')
    return url.note(`${name} is left out: Pharos checks HTTP only, not ${scheme}`)
  const address = urlOf(name, url)
  const method = methodOf(name, endpoint.get('method'))
  if (address === undefined || method === undefined) return undefined
  const client = endpoint.get('client')
  for (const [key, value] of client.entries()) {
    if (!['timeout', 'ignore-redirect'].includes(key)) value.note(`left out: no equivalent of client.${key}`)
  }
  const group = endpoint.get('group').text()
  const isGraphql = endpoint.get('graphql').flag() === true
  const body = bodyIn(endpoint, isGraphql, variable)
  const conditions = endpoint.get('conditions').items()
  const assertions = conditions.filter((condition) => !isOnExpiry(condition)).flatMap(assertionsOf)
  return {
    name: group === undefined ? name : `${group} ${name}`,
    intervalS: intervalOf(endpoint.get('interval'), INTERVAL_S),
    place: endpoint,
    isPaused: endpoint.get('enabled').flag() === false,
    labels: {
      ...(group === undefined ? {} : { group: labelOf(group) }),
      ...labelsOf(endpoint.get('extra-labels').entries()),
    },
    endpoints: [
      {
        url: address,
        method,
        timeoutS: timeoutOf(client.get('timeout')),
        maxRedirects: client.get('ignore-redirect').flag() === true ? 0 : REDIRECTS,
        headers: withContentType(
          headersOf(endpoint.get('headers').entries(), name, variable),
          isGraphql ? 'application/json' : undefined,
        ),
        body,
        // Without a condition on the status, Gatus accepts any. One without an equivalent leaves Pharos' default.
        assertions: conditions.some(isOnStatus) ? assertions : [{ status: { gte: 100 } }, ...assertions],
      },
    ],
  }
}

/** The body that Gatus sends: with its placeholders replaced, and for GraphQL as the query of a JSON document. */
function bodyIn(endpoint: SourceValue, isGraphql: boolean, variable: VariableOf) {
  const body = endpoint.get('body')
  const name = endpoint.get('name').text() ?? 'endpoint'
  const text = literal(body.text())
    ?.replaceAll('[ENDPOINT_NAME]', () => name)
    .replaceAll('[ENDPOINT_GROUP]', () => endpoint.get('group').text() ?? '')
    .replaceAll('[ENDPOINT_URL]', () => endpoint.get('url').text() ?? '')
  if (text?.includes('[RANDOM_STRING_') === true)
    body.note('left out: no equivalent of random texts in a body')
  const sent = isGraphql && text !== undefined ? JSON.stringify({ query: text }) : text
  return bodyOf(body, name, variable, sent, hasVariable(body.text()))
}

/** Whether Gatus replaces a part of `text` with an environment variable; `$$` is a dollar sign. */
function hasVariable(text = ''): boolean {
  return /\$[\w{]/.test(text.replaceAll('$$', ''))
}

function literal(text: string | undefined): string | undefined {
  return text?.replaceAll('$$', () => '$')
}

const STATUS: Readonly<Record<string, 'eq' | 'not' | 'lt' | 'lte' | 'gt' | 'gte'>> = {
  '==': 'eq',
  '!=': 'not',
  '<': 'lt',
  '<=': 'lte',
  '>': 'gt',
  '>=': 'gte',
}

function isOnStatus(condition: SourceValue): boolean {
  return condition.text()?.toUpperCase().includes('[STATUS]') === true
}

function isOnExpiry(condition: SourceValue): boolean {
  return condition.text()?.toUpperCase().startsWith('[CERTIFICATE_EXPIRATION]') === true
}

/** The assertion of a condition such as `[STATUS] == 200`; none, with a note, without an equivalent. */
function assertionsOf(condition: SourceValue): readonly AssertionForm[] {
  const text = literal(condition.text()?.trim()) ?? ''
  if (hasVariable(condition.text())) {
    condition.note(`left out: an assertion cannot contain a variable: ${text}`)
    return []
  }
  const [, left = '', operator = '', right = ''] = /^(.+?)\s*(==|!=|<=|>=|<|>)\s*(.*)$/.exec(text) ?? []
  const form = assertionOf(left, operator, right)
  if (form !== undefined) return [form]
  if (left.toUpperCase() === '[CONNECTED]' && operator === '==' && right === 'true') return []
  condition.note(`left out: ${reasonOf(left, text)}`)
  return []
}

function assertionOf(left: string, operator: string, right: string): AssertionForm | undefined {
  const any = /^any\((.*)\)$/
    .exec(right)?.[1]
    ?.split(',')
    .map((one) => one.trim())
  switch (left.toUpperCase()) {
    case '[STATUS]':
      return statusForm(operator, right, any)
    case '[RESPONSE_TIME]': {
      const limit = /^\d+$/.test(right) ? `${right}ms` : right
      if ((operator !== '<' && operator !== '<=') || !DURATION.test(limit)) return undefined
      return { latency: { total: `${operator} ${limit}` } }
    }
    case '[BODY]': {
      if (operator !== '==') return undefined
      const pattern = /^pat\((.*)\)$/.exec(right)?.[1]
      if (pattern === undefined) return { body: textOf(any ?? [right]) }
      return /[[\]\\]/.test(pattern) ? undefined : { body: patternOf(pattern) }
    }
    default:
      return undefined
  }
}

const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/

function statusForm(
  operator: string,
  right: string,
  any: readonly string[] | undefined,
): AssertionForm | undefined {
  const hundreds = operator === '==' ? /^pat\(([1-5])(?:\*|\?\?)\)$/.exec(right)?.[1] : undefined
  if (hundreds !== undefined) return { status: `${hundreds}xx` }
  if (any !== undefined && operator === '==') {
    return any.every((one) => /^\d+$/.test(one)) ? { status: { oneOf: any.map(Number) } } : undefined
  }
  const comparison = STATUS[operator]
  if (comparison === undefined || !/^\d+$/.test(right)) return undefined
  // True because each of these comparisons takes one number.
  return {
    status: comparison === 'eq' ? Number(right) : ({ [comparison]: Number(right) } as { lt: number }),
  }
}

/** A body that is one of `texts`, apart from blanks and line breaks around it. */
function textOf(texts: readonly string[]): { regex: string } {
  const choices = texts.map(quotedPattern)
  return { regex: `^\\s*${choices.length === 1 ? choices[0] : `(?:${choices.join('|')})`}\\s*$` }
}

/** A pattern in which * matches any text, and ? one character. */
function patternOf(pattern: string): { contains: string } | { regex: string } {
  const contained = /^\*([^*?]+)\*$/.exec(pattern)?.[1]
  if (contained !== undefined) return { contains: contained }
  const regex = quotedPattern(pattern).replaceAll('\\*', '[\\s\\S]*').replaceAll('\\?', '[\\s\\S]')
  return { regex: `^\\s*${regex}\\s*$` }
}

function reasonOf(left: string, text: string): string {
  if (/\[BODY\][.[]|^(?:len|has)\(/.test(left))
    return `Pharos has no assertion on values inside JSON: ${text}`
  return `no equivalent of ${text}`
}
