import type { AssertionForm } from '../manifest/schema/assertionForm.ts'
import { bodyOf, headersOf, type ImportedService, urlOf } from './importedService.ts'
import type { SourceValue } from './sourceValue.ts'

const MINUTE_S = 60
const MINUTES = 10
const REDIRECTS = 10

/** The services of an export of Checkly's API (GET /v1/checks): one for each API or URL check. */
export function fromCheckly(
  documents: readonly SourceValue[],
  variable: (place: string) => string,
): readonly ImportedService[] {
  return documents.flatMap((document) =>
    document.items().flatMap((check) => serviceOf(check, variable) ?? []),
  )
}

function serviceOf(check: SourceValue, variable: (place: string) => string): ImportedService | undefined {
  const name = check.get('name').text() ?? 'check'
  const type = check.get('checkType').text() ?? 'API'
  if (type !== 'API' && type !== 'URL') {
    check.get('checkType').note(`${name} is left out: ${type} checks are not made, only HTTP`)
    return undefined
  }
  const request = check.get('request')
  const method = (request.get('method').text() ?? 'GET').toUpperCase()
  if (method !== 'GET' && method !== 'POST') {
    request.get('method').note(`${name} is left out: ${method} requests are not made, only GET and POST`)
    return undefined
  }
  const url = urlOf(request.get('url'))
  if (url === undefined) return undefined
  for (const key of [
    'queryParameters',
    'setupSnippetId',
    'tearDownSnippetId',
    'localSetupScript',
    'localTearDownScript',
  ]) {
    const value = check.get(key).isThere ? check.get(key) : request.get(key)
    if (value.isThere && (value.items().length > 0 || value.text() !== undefined)) {
      value.note(`left out: ${key} has no equivalent`)
    }
  }
  const named = request
    .get('headers')
    .items()
    .map((header) => [header.get('key').text() ?? '', header.get('value')] as const)
  const user = request.get('basicAuth').get('username')
  const env = (user.text() ?? '') === '' ? undefined : variable(`${name}_authorization`)
  if (env !== undefined)
    user.note(`the password of ${name} is not copied: set ${env} to the Base64 of user:password`)
  const headers = headersOf(named, name, variable)
  const slowMs = check.get('maxResponseTime').number()
  return {
    name,
    intervalS: intervalOfMinutes(check.get('frequency')),
    isPaused: check.get('activated').flag() === false,
    labels: {},
    endpoints: [
      {
        url,
        method: method === 'POST' ? 'POST' : undefined,
        maxRedirects: request.get('followRedirects').flag() === false ? 0 : REDIRECTS,
        headers: env === undefined ? headers : { ...headers, Authorization: { env, prefix: 'Basic ' } },
        body: method === 'POST' ? bodyOf(request.get('body'), name, variable) : undefined,
        assertions: [
          ...request.get('assertions').items().flatMap(assertionOf),
          ...(slowMs === undefined ? [] : [{ latency: { total: `<= ${slowMs}ms` } }]),
        ],
      },
    ],
  }
}

/** Seconds of an interval that is given in minutes; 0 means less than one. */
function intervalOfMinutes(frequency: SourceValue): number {
  const minutes = frequency.number() ?? MINUTES
  if (minutes > 0) return minutes * MINUTE_S
  frequency.note('the interval is below a minute there: 30 s is used')
  return MINUTE_S / 2
}

const COMPARISONS: Readonly<Record<string, 'eq' | 'not' | 'lt' | 'gt'>> = {
  EQUALS: 'eq',
  NOT_EQUALS: 'not',
  LESS_THAN: 'lt',
  GREATER_THAN: 'gt',
}

function assertionOf(assertion: SourceValue): readonly AssertionForm[] {
  const [source, comparison, target, property] = ['source', 'comparison', 'target', 'property'].map(
    (key) => assertion.get(key).text() ?? '',
  ) as [string, string, string, string]
  const compared = COMPARISONS[comparison]
  const isNumber = /^\d+$/.test(target)
  if (source === 'STATUS_CODE' && compared !== undefined && isNumber) {
    if (compared === 'eq') return [{ status: Number(target) }]
    // True because each of these comparisons takes one number.
    return [{ status: { [compared]: Number(target) } as { lt: number } }]
  }
  if (source === 'RESPONSE_TIME' && compared === 'lt' && isNumber)
    return [{ latency: { total: `< ${target}ms` } }]
  const matcher =
    comparison === 'CONTAINS'
      ? { contains: target }
      : comparison === 'EQUALS'
        ? { equals: target }
        : undefined
  if (source === 'TEXT_BODY' && property === '' && matcher !== undefined) return [{ body: matcher }]
  if (source === 'HEADERS' && property !== '' && matcher !== undefined) {
    return [{ header: { name: property, ...matcher } }]
  }
  assertion.note(`left out: there is no equivalent of ${source} ${property} ${comparison} ${target}`)
  return []
}
