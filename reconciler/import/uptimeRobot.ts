import type { AssertionForm } from '../manifest/schema/assertionForm.ts'
import { headersOf, type ImportedService, intervalOf, urlOf } from './importedService.ts'
import type { SourceValue } from './sourceValue.ts'

/** The interval of UptimeRobot's free plan (seconds). */
const INTERVAL_S = 300
/** Types of monitors by the numbers of its API. */
const TYPES: Readonly<Record<string, string>> = {
  '1': 'HTTP',
  '2': 'keyword',
  '3': 'ping',
  '4': 'port',
  '5': 'heartbeat',
}
/** Requests by the numbers of its API. */
const METHODS: Readonly<Record<string, string>> = {
  ...{ '1': 'HEAD', '2': 'GET', '3': 'POST', '4': 'PUT', '5': 'PATCH', '6': 'DELETE', '7': 'OPTIONS' },
}
const PAUSED = '0'
/** A keyword monitor is down when the text is there (1), or when it is missing (2). */
const MUST_BE_THERE = '2'

/** The services of an answer of UptimeRobot's getMonitors: one for each HTTP and keyword monitor. */
export function fromUptimeRobot(
  documents: readonly SourceValue[],
  variable: (place: string) => string,
): readonly ImportedService[] {
  return documents.flatMap((document) => {
    const list = document.get('monitors').items()
    return (list.length > 0 ? list : document.items()).flatMap(
      (monitor) => serviceOf(monitor, variable) ?? [],
    )
  })
}

function serviceOf(monitor: SourceValue, variable: (place: string) => string): ImportedService | undefined {
  const name = monitor.get('friendly_name').text() ?? 'monitor'
  const type = TYPES[monitor.get('type').text() ?? '1'] ?? 'other'
  if (type !== 'HTTP' && type !== 'keyword') {
    monitor.get('type').note(`${name} is left out: ${type} checks are not made, only HTTP`)
    return undefined
  }
  // Its usual method HEAD is only cheaper: a GET has the same status.
  const method = METHODS[monitor.get('http_method').text() ?? '2'] ?? 'GET'
  if (method !== 'HEAD' && method !== 'GET' && method !== 'POST') {
    monitor.get('http_method').note(`${name} is left out: ${method} requests are not made, only GET and POST`)
    return undefined
  }
  const url = urlOf(monitor.get('url'))
  if (url === undefined) return undefined
  const headers = headersOf(monitor.get('custom_http_headers').entries(), name, variable)
  const user = monitor.get('http_username')
  const env = (user.text() ?? '') === '' ? undefined : variable(`${name}_authorization`)
  if (env !== undefined)
    user.note(`the password of ${name} is not copied: set ${env} to the Base64 of user:password`)
  return {
    name,
    intervalS: intervalOf(monitor.get('interval'), INTERVAL_S),
    isPaused: monitor.get('status').text() === PAUSED,
    labels: {},
    endpoints: [
      {
        url,
        method: method === 'POST' ? 'POST' : undefined,
        timeoutS: monitor.get('timeout').number(),
        maxRedirects: REDIRECTS,
        headers: env === undefined ? headers : { ...headers, Authorization: { env, prefix: 'Basic ' } },
        assertions: type === 'keyword' ? keywordOf(monitor) : [],
      },
    ],
  }
}

const REDIRECTS = 10

function keywordOf(monitor: SourceValue): readonly AssertionForm[] {
  const keyword = monitor.get('keyword_value').text()
  if (keyword === undefined) return []
  if (monitor.get('keyword_type').text() === MUST_BE_THERE) return [{ body: { contains: keyword } }]
  monitor.get('keyword_value').note('left out: there is no assertion that a text is absent')
  return []
}
