import type { AssertionForm } from '../manifest/schema/assertionForm.ts'
import {
  bodyOf,
  headersOf,
  type ImportedHeaders,
  type ImportedService,
  intervalOf,
  labelsOf,
  noteOnce,
  passwordHeader,
  quotedPattern,
  REDIRECTS,
  type ReadServices,
  statusOf,
  timeoutOf,
  tokenHeader,
  urlOf,
  type VariableOf,
  withContentType,
} from './importedService.ts'
import type { SourceValue } from './sourceValue.ts'

/** The interval of UptimeRobot's free plan (seconds). */
const INTERVAL_S = 300
/** Types of monitors by the numbers of the API's version 2; version 3 spells them. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ '1': 'HTTP', '2': 'KEYWORD', '3': 'PING', '4': 'PORT', '5': 'HEARTBEAT', '6': 'DNS', '7': 'API' },
}
const HTTP_TYPES = new Set(['HTTP', 'KEYWORD', 'API'])
/** Requests by the numbers of version 2. */
const METHODS: Readonly<Record<string, string>> = {
  ...{ '1': 'HEAD', '2': 'GET', '3': 'POST', '4': 'PUT', '5': 'PATCH', '6': 'DELETE', '7': 'OPTIONS' },
}
const PAUSED = new Set(['0', 'PAUSED'])
/** A keyword monitor is down when the text is present (1) or missing (2). */
const MUST_BE_THERE = new Set(['2', 'ALERT_NOT_EXISTS'])
const IGNORES_CASE = new Set(['1', 'CaseInsensitive'])
const DIGEST = new Set(['2', 'DIGEST'])
const BEARER = 'BEARER'

/**
 * The services of a response of UptimeRobot's API, version 2 (getMonitors) or 3 (GET /v3/monitors): one for each HTTP,
 * keyword and API monitor.
 */
export const fromUptimeRobot: ReadServices = (documents, variable) => {
  const monitors = documents.flatMap((document) => {
    const lists = [document.get('monitors'), document.get('data'), document].map((list) => list.items())
    const found = lists.find((list) => list.length > 0)
    return found ?? (document.first('friendlyName', 'friendly_name').isThere ? [document] : [])
  })
  notePages(documents, monitors.length)
  const services = monitors.flatMap((monitor) => serviceOf(monitor, variable) ?? [])
  const having = (current: string, earlier: string) =>
    services
      .map(({ place }) => place.first(current, earlier))
      .filter((list) => list.items().length > 0 || (list.text() ?? '') !== '')
  noteOnce(
    having('assignedAlertContacts', 'alert_contacts'),
    'left out: alert contacts: create channels (pharos-server channel create)',
  )
  noteOnce(
    having('maintenanceWindows', 'mwindows'),
    'left out: maintenance windows: create them with pharos-server maintenance create',
  )
  return services
}

/** Notes pages of a response that are not among the files: version 2 counts monitors, version 3 names the next page. */
function notePages(documents: readonly SourceValue[], found: number): void {
  const [pages] = documents.map((document) => document.get('pagination'))
  const total = pages?.get('total').number() ?? 0
  if (total > found) pages?.note(`left out: ${total - found} monitors are on further pages: pass all pages`)
  const next = documents.map((document) => document.first('nextLink', 'nextCursorId'))
  if (next.length > 0 && next.every(({ isThere }) => isThere)) {
    next[0]?.note('left out: there is a further page: pass all pages')
  }
}

function serviceOf(monitor: SourceValue, variable: VariableOf): ImportedService | undefined {
  const name = unescaped(monitor.first('friendlyName', 'friendly_name').text() ?? 'monitor')
  const kind = monitor.get('type').text() ?? 'HTTP'
  const type = TYPES[kind] ?? kind
  if (!HTTP_TYPES.has(type))
    return monitor.get('type').note(`${name} is left out: Pharos checks HTTP only, not ${type.toLowerCase()}`)
  const request = monitor.first('httpMethodType', 'http_method')
  // Its default method HEAD has the same status as GET.
  const method = METHODS[request.text() ?? '2'] ?? request.text() ?? 'GET'
  if (method !== 'HEAD' && method !== 'GET' && method !== 'POST')
    return request.note(`${name} is left out: Pharos sends GET and POST, not ${method}`)
  const url = urlOf(name, monitor.get('url'), unescaped(monitor.get('url').text() ?? '') || undefined)
  if (url === undefined) return undefined
  const named = headersOf(monitor.first('customHttpHeaders', 'custom_http_headers').entries(), name, variable)
  const { body, type: bodyType } = method === 'POST' ? posted(monitor, name, variable) : {}
  return {
    name,
    intervalS: intervalOf(monitor.get('interval'), INTERVAL_S),
    place: monitor,
    isPaused: PAUSED.has(monitor.get('status').text() ?? ''),
    labels: tagsOf(monitor),
    endpoints: [
      {
        url,
        method: method === 'POST' ? 'POST' : undefined,
        timeoutS: timeoutOf(monitor.get('timeout')),
        maxRedirects: monitor.get('followRedirections').flag() === false ? 0 : REDIRECTS,
        headers: { ...withContentType(named, bodyType), ...authorizationOf(monitor, name, variable) },
        body,
        assertions: [...statusesOf(monitor), ...contentOf(monitor, type), ...slownessOf(monitor)],
      },
    ],
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&#039;': "'" },
}

/** Names and URLs are escaped in its responses as in a page. */
function unescaped(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#0?39);/g, (entity) => ENTITIES[entity] ?? entity)
}

function tagsOf(monitor: SourceValue): Readonly<Record<string, string>> {
  const tags = monitor.get('tags').items()
  return labelsOf(tags.map((tag) => [tag.get('name').text() ?? tag.text() ?? 'tag']))
}

function authorizationOf(monitor: SourceValue, name: string, variable: VariableOf): ImportedHeaders {
  const kind = monitor.first('authType', 'http_auth_type').text() ?? ''
  const user = monitor.first('httpUsername', 'http_username')
  if (kind === BEARER) return tokenHeader(monitor, name, variable)
  if ((user.text() ?? '') === '') return {}
  if (!DIGEST.has(kind)) return passwordHeader(user, name, variable)
  user.note(`left out: ${name} signs in by digest, which has no equivalent`)
  return {}
}

/** The body of a POST and its type: pairs, or a text. */
function posted(monitor: SourceValue, name: string, variable: VariableOf) {
  const value = monitor.first('postValueData', 'post_value')
  const kind = monitor.first('postValueType', 'post_type').text()
  const isForm = kind === 'KEY_VALUE' || kind === '1'
  const isJson = kind === 'RAW_JSON' || monitor.get('post_content_type').text() === '1'
  const pairs = value.entries().map(([key, one]): [string, string] => [key, one.text() ?? ''])
  const text = isForm && pairs.length > 0 ? String(new URLSearchParams(pairs)) : value.json()
  const type = isForm ? 'application/x-www-form-urlencoded' : isJson ? 'application/json' : undefined
  return { body: bodyOf(value, name, variable, text), type: text === undefined ? undefined : type }
}

function statusesOf(monitor: SourceValue): readonly AssertionForm[] {
  const codes = monitor.get('successHttpResponseCodes')
  const status = statusOf(codes.texts(), codes)
  if (status !== undefined) return [status]
  const earlier = monitor.get('custom_http_statuses')
  if (codes.items().length > 0) codes.note('left out: the status codes are not understood')
  else if (earlier.entries().length + earlier.items().length > 0 || (earlier.text() ?? '') !== '') {
    earlier.note('left out: every status below 400 is up: add an assertion to the manifest for others')
  }
  return []
}

function slownessOf(monitor: SourceValue): readonly AssertionForm[] {
  const slowMs = monitor.get('responseTimeThreshold').number() ?? 0
  return slowMs > 0 ? [{ latency: { total: `<= ${slowMs}ms` } }] : []
}

function contentOf(monitor: SourceValue, type: string): readonly AssertionForm[] {
  const checks = monitor.get('config').get('apiAssertions')
  if (type === 'API' && checks.isThere) {
    checks.note('left out: Pharos has no assertion on values inside JSON')
  }
  const value = monitor.first('keywordValue', 'keyword_value')
  const keyword = value.text()
  if (type !== 'KEYWORD' || keyword === undefined) return []
  if (!MUST_BE_THERE.has(monitor.first('keywordType', 'keyword_type').text() ?? '')) {
    value.note('left out: Pharos has no assertion that a text is absent')
    return []
  }
  const ignoresCase = IGNORES_CASE.has(monitor.first('keywordCaseType', 'keyword_case_type').text() ?? '')
  return [{ body: ignoresCase ? { regex: `(?i)${quotedPattern(keyword)}` } : { contains: keyword } }]
}
