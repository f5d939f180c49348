import type { AssertionForm } from '../manifest/schema/assertionForm.ts'
import {
  bodyOf,
  headersOf,
  type ImportedEndpoint,
  type ImportedService,
  labelsOf,
  methodOf,
  noteOnce,
  passwordHeader,
  REDIRECTS,
  type ReadServices,
  urlOf,
  type VariableOf,
  withContentType,
} from './importedService.ts'
import type { SourceValue } from './sourceValue.ts'

const MINUTE_S = 60
const MINUTES = 10
/** Status from which a check without an assertion on the status is down, or up when it should fail. */
const ERROR_STATUS = 400
/** Types of bodies by its names; a raw body has none. */
const BODY_TYPES: Readonly<Record<string, string>> = {
  ...{ JSON: 'application/json', GRAPHQL: 'application/json', FORM: 'application/x-www-form-urlencoded' },
}

/** The services of an export of Checkly's API (GET /v1/checks, or one check): one for each API or URL check. */
export const fromCheckly: ReadServices = (documents, variable) => {
  const checks = documents.flatMap((document) =>
    document.get('checkType').isThere ? [document] : document.items(),
  )
  const services = checks.flatMap((check) => serviceOf(check, variable) ?? [])
  noteSettings(services.map(({ place }) => place))
  return services
}

/** What no service carries over, once for all of them. */
function noteSettings(checks: readonly SourceValue[]): void {
  const having = (key: string, isSet: (value: SourceValue) => boolean) =>
    checks.map((check) => check.get(key)).filter(isSet)
  const isList = (value: SourceValue) => value.items().length > 0
  noteOnce(
    having('alertChannelSubscriptions', isList),
    'left out: alert channels: create channels (pharos-server channel create)',
  )
  noteOnce(having('privateLocations', isList), 'left out: private locations: run an agent in a region')
  noteOnce(having('locations', isList), 'locations: --region sets the regions')
  noteOnce(
    having('retryStrategy', (value) => !['NO_RETRIES', undefined].includes(value.get('type').text())),
    'retries: Pharos repeats a failed check once',
  )
  noteOnce(
    having('degradedResponseTime', (value) => value.isThere),
    'left out: degradedResponseTime: a check is up or down',
  )
  noteOnce(
    having('groupId', (value) => value.isThere),
    'left out: settings of groups, which this export does not contain',
  )
  noteOnce(
    having('environmentVariables', isList),
    'left out: variables of a check: set environment variables instead',
  )
  noteOnce(
    having('muted', (value) => value.flag() === true),
    'left out: muted: select the services of each channel (pharos-server channel update --service)',
  )
}

function serviceOf(check: SourceValue, variable: VariableOf): ImportedService | undefined {
  const name = check.get('name').text() ?? 'check'
  const type = check.get('checkType').text() ?? 'API'
  if (type !== 'API' && type !== 'URL')
    return check.get('checkType').note(`${name} is left out: Pharos checks HTTP only, not ${type}`)
  const endpoint = endpointOf(check, name, variable)
  if (endpoint === undefined) return undefined
  for (const key of ['setupSnippetId', 'tearDownSnippetId', 'localSetupScript', 'localTearDownScript']) {
    const value = check.get(key)
    if ((value.text() ?? '') !== '') value.note(`left out: no equivalent of ${key}`)
  }
  const tags = check.get('tags').texts()
  return {
    name,
    intervalS: intervalOf(check),
    place: check,
    isPaused: check.get('activated').flag() === false,
    labels: labelsOf(tags.map((tag) => [tag])),
    endpoints: [endpoint],
  }
}

function endpointOf(check: SourceValue, name: string, variable: VariableOf): ImportedEndpoint | undefined {
  const request = check.get('request')
  const method = methodOf(name, request.get('method'))
  if (method === undefined) return undefined
  const locked = request.get('queryParameters').items().find(isLocked)
  if (locked !== undefined)
    return locked.note(
      `${name} is left out: its URL has a locked parameter, which is a secret: send it as a header`,
    )
  const url = urlOf(name, request.get('url'), withParameters(request))
  if (url === undefined) return undefined
  if (request.get('skipSSL').flag() === true)
    request.get('skipSSL').note('skipSSL: Pharos always verifies certificates')
  if (request.get('ipFamily').text() === 'IPv6') {
    request.get('ipFamily').note('left out: Pharos chooses the IP version')
  }
  const given = request.get('headers').items()
  const named = given.map((header) => [header.get('key').text() ?? '', header.get('value')] as const)
  const secrets = given.filter(isLocked).map((header) => header.get('key').text() ?? '')
  const headers = headersOf(named, name, variable, secrets)
  const user = request.get('basicAuth').get('username')
  const signedIn = (user.text() ?? '') === '' ? {} : passwordHeader(user, name, variable)
  const body = method === 'POST' ? bodyOf(request.get('body'), name, variable) : undefined
  const bodyType = (body ?? '') === '' ? undefined : BODY_TYPES[request.get('bodyType').text() ?? '']
  return {
    url,
    method,
    maxRedirects: request.get('followRedirects').flag() === false ? 0 : REDIRECTS,
    headers: { ...withContentType(headers, bodyType), ...signedIn },
    body,
    assertions: assertionsOf(check),
  }
}

/** Whether the value of a header or of a parameter is hidden from readers there. */
function isLocked(value: SourceValue): boolean {
  return value.get('locked').flag() === true
}

/** The URL of a request with the parameters that stand beside it. */
function withParameters(request: SourceValue): string | undefined {
  const url = request.get('url').text()
  const parameters = request.get('queryParameters').items()
  if (url === undefined || parameters.length === 0 || !URL.canParse(url)) return url
  const whole = new URL(url)
  const pairs = parameters.map((one) => [one.get('key').text() ?? '', one.get('value').text() ?? ''] as const)
  for (const [key, value] of pairs) whole.searchParams.append(key, value)
  // A variable would be escaped, and no longer seen to be one.
  return [url, ...pairs.flat()].some((text) => text.includes('{{')) ? `${url}{{` : whole.href
}

/** Seconds between two checks: minutes, or below one the seconds of the offset. */
function intervalOf(check: SourceValue): number {
  const frequency = check.get('frequency')
  const minutes = frequency.number() ?? MINUTES
  if (minutes > 0) return minutes * MINUTE_S
  const seconds = check.get('frequencyOffset').number() ?? 0
  if (seconds > 0) return seconds
  frequency.note('the interval is below a minute there: 30 s is used')
  return MINUTE_S / 2
}

function assertionsOf(check: SourceValue): readonly AssertionForm[] {
  const found = check.get('request').get('assertions').items().flatMap(assertionOf)
  const slowMs = check.get('maxResponseTime').number()
  const shouldFail = check.get('shouldFail').flag() === true
  const usual = shouldFail ? { gte: ERROR_STATUS } : { lt: ERROR_STATUS }
  return [
    ...(found.some((form) => 'status' in form) ? [] : [{ status: usual }]),
    ...found,
    ...(slowMs === undefined ? [] : [{ latency: { total: `<= ${slowMs}ms` } }]),
  ]
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
  if (target.includes('{{')) {
    assertion.note(`left out: an assertion cannot contain a variable: ${target}`)
    return []
  }
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
  // A pattern would choose the part of the value that is compared.
  const isWhole = (assertion.get('regex').text() ?? '') === ''
  if (source === 'TEXT_BODY' && isWhole && property === '' && matcher !== undefined)
    return [{ body: matcher }]
  if (source === 'HEADERS' && isWhole && property !== '' && matcher !== undefined) {
    return [{ header: { name: property, ...matcher } }]
  }
  const words = [source, property, isWhole ? '' : 'regex', comparison, target].filter((word) => word !== '')
  assertion.note(`left out: no equivalent of ${words.join(' ')}`)
  return []
}
