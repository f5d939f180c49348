import type { AssertionForm } from '../manifest/schema/assertionForm.ts'
import { bodyOf, headersOf, type ImportedService, intervalOf, urlOf } from './importedService.ts'
import { readSource, type SourceValue } from './sourceValue.ts'

const INTERVAL_S = 60
/** Statuses that count as up unless a monitor names others. */
const USUAL_CODES = ['200-299']
/** Types of monitors that are HTTP checks. */
const HTTP_TYPES = new Set(['http', 'keyword'])

/** The services of an export of Uptime Kuma, or of its database as `monitorRows` gives it: one for each HTTP monitor. */
export function fromUptimeKuma(
  documents: readonly SourceValue[],
  variable: (place: string) => string,
): readonly ImportedService[] {
  return documents.flatMap((document) => {
    const list = document.get('monitorList')
    const monitors = list.items().length > 0 ? list.items() : list.entries().map(([, monitor]) => monitor)
    return monitors.flatMap((monitor) => serviceOf(monitor, variable) ?? [])
  })
}

/** Rows of the table `monitor` as a document with one row on each line, so that a line is the number of a row. Pure. */
export function monitorRows(rows: readonly unknown[]): string {
  return `{"monitorList": [${rows.map((row) => JSON.stringify(row)).join(',\n')}]}`
}

function serviceOf(monitor: SourceValue, variable: (place: string) => string): ImportedService | undefined {
  const name = monitor.get('name').text() ?? 'monitor'
  const type = monitor.get('type').text() ?? 'http'
  if (type === 'group') return undefined
  if (!HTTP_TYPES.has(type)) {
    monitor.note(`${name} is left out: ${type} checks are not made, only HTTP`)
    return undefined
  }
  if (either(monitor, 'upsideDown', 'upside_down').flag() === true) {
    monitor.note(`${name} is left out: a check cannot be up when its target fails`)
    return undefined
  }
  const url = urlOf(monitor.get('url'))
  const method = (monitor.get('method').text() ?? 'GET').toUpperCase()
  if (url === undefined) return undefined
  if (method !== 'GET' && method !== 'POST') {
    monitor.note(`${name} is left out: ${method} requests are not made, only GET and POST`)
    return undefined
  }
  if (either(monitor, 'ignoreTls', 'ignore_tls').flag() === true) {
    monitor.note(`${name}: certificates are verified here`)
  }
  const headers = headersOf(headerEntries(monitor, name), name, variable)
  const user = either(monitor, 'basic_auth_user', 'basicAuthUser').text() ?? ''
  const env = user === '' ? undefined : variable(`${name}_authorization`)
  if (env !== undefined) {
    monitor.note(`the password of ${name} is not copied: set ${env} to the Base64 of user:password`)
  }
  const timeoutS = monitor.get('timeout').number() ?? 0
  return {
    name,
    intervalS: intervalOf(monitor.get('interval'), INTERVAL_S),
    isPaused: monitor.get('active').flag() === false,
    labels: {},
    endpoints: [
      {
        url,
        method: method === 'POST' ? 'POST' : undefined,
        timeoutS: timeoutS > 0 ? timeoutS : undefined,
        maxRedirects: monitor.get('maxredirects').number(),
        headers: env === undefined ? headers : { ...headers, Authorization: { env, prefix: 'Basic ' } },
        body: method === 'POST' ? bodyOf(monitor.get('body'), name, variable) : undefined,
        assertions: [statusOf(monitor), ...keywordOf(monitor, type)],
      },
    ],
  }
}

/** The value under the name of the export, else under that of the database. */
function either(monitor: SourceValue, exported: string, stored: string): SourceValue {
  return monitor.get(exported).isThere ? monitor.get(exported) : monitor.get(stored)
}

function headerEntries(monitor: SourceValue, name: string): readonly (readonly [string, SourceValue])[] {
  const headers = monitor.get('headers')
  const text = headers.text()
  if (text === undefined || text === '') return headers.entries()
  try {
    // Notes about single headers are at the monitor: their own text is quoted in another one.
    const [document] = readSource({ file: name, text }, [])
    return document?.entries() ?? []
  } catch {
    headers.note(`left out: the headers of ${name} are no JSON`)
    return []
  }
}

function statusOf(monitor: SourceValue): AssertionForm {
  const given = either(monitor, 'accepted_statuscodes', 'accepted_statuscodes_json')
  const text = given.text()
  const listed = text === undefined ? given.items().flatMap((one) => one.text() ?? []) : codesOf(text)
  const codes = listed.length === 0 ? USUAL_CODES : listed
  const [only = ''] = codes
  const range = /^(\d{3})-(\d{3})$/.exec(only)
  if (codes.length === 1 && range !== null)
    return { status: { between: [Number(range[1]), Number(range[2])] } }
  const all = codes.flatMap((code) => {
    const [, from, to = from] = /^(\d{3})(?:-(\d{3}))?$/.exec(code) ?? []
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index)
  })
  return { status: { oneOf: all } }
}

function codesOf(json: string): readonly string[] {
  const [document] = readSource({ file: '', text: json }, [])
  return document?.items().flatMap((one) => one.text() ?? []) ?? []
}

function keywordOf(monitor: SourceValue, type: string): readonly AssertionForm[] {
  const keyword = monitor.get('keyword').text()
  if (type !== 'keyword' || keyword === undefined) return []
  if (either(monitor, 'invertKeyword', 'invert_keyword').flag() === true) {
    monitor.get('keyword').note('left out: there is no assertion that a text is absent')
    return []
  }
  return [{ body: { contains: keyword } }]
}
