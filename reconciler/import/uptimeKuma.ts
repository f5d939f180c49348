import type { AssertionForm } from '../manifest/schema/assertionForm.ts'
import {
  bodyOf,
  headersOf,
  type ImportedHeaders,
  type ImportedService,
  intervalOf,
  labelOf,
  labelsOf,
  methodOf,
  noteOnce,
  passwordHeader,
  type ReadServices,
  statusOf,
  timeoutOf,
  tokenHeader,
  urlOf,
  type VariableOf,
  withContentType,
} from './importedService.ts'
import { type ImportNote, readSource, type SourceValue, UnreadableSource } from './sourceValue.ts'

const INTERVAL_S = 60
/** Part of the interval that a monitor without a timeout waits. */
const USUAL_TIMEOUT = 0.8
/** Default statuses that count as up. */
const USUAL_CODES = ['200-299']
/** Types of monitors that are HTTP checks. */
const HTTP_TYPES = new Set(['http', 'keyword', 'json-query'])
/** Maximum number of groups within one another: a file may claim a circle of them. */
const GROUP_DEPTH_MAX = 20
/** Types of bodies by its names; JSON unless a monitor names one. */
const BODY_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  xml: 'text/xml; charset=utf-8',
}

/** The services of an export of Uptime Kuma, or of its database as `monitorsOf` gives it: one for each HTTP monitor. */
export const fromUptimeKuma: ReadServices = (documents, variable) => {
  return documents.flatMap((document) => {
    const list = document.get('monitorList')
    const monitors = list.items().length > 0 ? list.items() : list.entries().map(([, monitor]) => monitor)
    const groups = new Map(
      monitors
        .filter((monitor) => monitor.get('type').text() === 'group')
        .map((group) => [group.get('id').text(), group]),
    )
    const services = monitors.flatMap((monitor) => {
      const service = serviceOf(monitor, variable)
      return service === undefined ? [] : [inGroup(service, groups.get(monitor.get('parent').text()), groups)]
    })
    noteSettings(services.map(({ place }) => place))
    return services
  })
}

/** `service` with the name of its group as a label; a paused group pauses what it holds. */
function inGroup(
  service: ImportedService,
  group: SourceValue | undefined,
  groups: ReadonlyMap<string | undefined, SourceValue>,
): ImportedService {
  if (group === undefined) return service
  const isPausedBy = (one: SourceValue | undefined, depth: number): boolean =>
    one !== undefined &&
    depth < GROUP_DEPTH_MAX &&
    (one.get('active').flag() === false || isPausedBy(groups.get(one.get('parent').text()), depth + 1))
  return {
    ...service,
    isPaused: service.isPaused || isPausedBy(group, 0),
    labels: { group: labelOf(group.get('name').text() ?? 'group'), ...service.labels },
  }
}

/** What no service carries over, once for all of them. */
function noteSettings(monitors: readonly SourceValue[]): void {
  const having = (exported: string, stored: string, isSet: (value: SourceValue) => boolean) =>
    monitors.map((monitor) => monitor.first(exported, stored)).filter(isSet)
  const isOn = (value: SourceValue) => value.flag() === true
  const isNumber = (value: SourceValue) => (value.number() ?? 0) > 0
  const isText = (value: SourceValue) => (value.text() ?? '') !== ''
  noteOnce(
    having('notificationIDList', 'notificationIDList', (value) => value.entries().length > 0),
    'left out: notifications: create channels (pharos-server channel create)',
  )
  noteOnce(
    having('proxyId', 'proxy_id', isNumber),
    'left out: the proxy of a monitor: serve --check-proxy sets one for all checks',
  )
  noteOnce(having('maxretries', 'maxretries', isNumber), 'retries: Pharos repeats a failed check once')
  noteOnce(having('ignoreTls', 'ignore_tls', isOn), 'ignoreTls: Pharos always verifies certificates')
  noteOnce(
    having('resendInterval', 'resend_interval', isNumber),
    'left out: resendInterval: Pharos does not repeat notifications',
  )
  noteOnce(having('description', 'description', isText), 'left out: no equivalent of descriptions')
  noteOnce(having('cacheBust', 'cache_bust', isOn), 'left out: cacheBust: Pharos adds no parameter to URLs')
  noteOnce(
    having('ipFamily', 'ip_family', (value) => value.text() !== undefined),
    'left out: Pharos chooses the IP version',
  )
}

function serviceOf(monitor: SourceValue, variable: VariableOf): ImportedService | undefined {
  const name = monitor.get('name').text() ?? 'monitor'
  const type = monitor.get('type').text() ?? 'http'
  if (type === 'group') return undefined
  if (!HTTP_TYPES.has(type)) return monitor.note(`${name} is left out: Pharos checks HTTP only, not ${type}`)
  if (monitor.first('upsideDown', 'upside_down').flag() === true)
    return monitor.note(`${name} is left out: no equivalent of "upside down"`)
  const url = urlOf(name, monitor.get('url'))
  const method = methodOf(name, monitor.get('method'), monitor)
  if (url === undefined || method === undefined) return undefined
  // It sends a body with GET as well.
  const body = bodyOf(monitor.get('body'), name, variable) || undefined
  const encoding = monitor.first('httpBodyEncoding', 'http_body_encoding').text() ?? 'json'
  const headers = {
    ...headersFrom(monitor, name, variable),
    ...authorizationOf(monitor, name, variable),
  }
  const intervalS = intervalOf(monitor.get('interval'), INTERVAL_S)
  return {
    name,
    intervalS,
    place: monitor,
    isPaused: monitor.get('active').flag() === false || monitor.get('forceInactive').flag() === true,
    labels: tagsOf(monitor),
    endpoints: [
      {
        url,
        method,
        timeoutS: timeoutOfMonitor(monitor, intervalS),
        maxRedirects: monitor.get('maxredirects').number(),
        headers: withContentType(headers, body === undefined ? undefined : BODY_TYPES[encoding]),
        body,
        assertions: [acceptedOf(monitor), ...contentOf(monitor, type)],
      },
    ],
  }
}

/** Versions before 1.23 have no timeout of a monitor. */
function timeoutOfMonitor(monitor: SourceValue, intervalS: number): number | undefined {
  const own = monitor.get('timeout')
  const seconds = own.number() ?? 0
  if (!own.isThere) return undefined
  return timeoutOf(own, seconds > 0 ? seconds : intervalS * USUAL_TIMEOUT)
}

/** Tags as labels. */
function tagsOf(monitor: SourceValue): ImportedService['labels'] {
  const tags = monitor.get('tags').items()
  return labelsOf(tags.map((tag) => [tag.get('name').text() ?? 'tag', tag.get('value')]))
}

/** What the method of authentication sends; one that an earlier form left in the database sends nothing. */
function authorizationOf(monitor: SourceValue, name: string, variable: VariableOf): ImportedHeaders {
  const user = monitor.first('basicAuthUser', 'basic_auth_user').text() ?? ''
  const given = monitor.first('authMethod', 'auth_method')
  // Versions without the field have one method.
  const hasField = [...monitor.entries()].some(([key]) => key === 'authMethod' || key === 'auth_method')
  const method = hasField ? (given.text() ?? '') : user === '' ? '' : 'basic'
  if (method === '') return {}
  if (method === 'basic') return passwordHeader(monitor, name, variable)
  if (method !== 'bearer') {
    monitor.note(`left out: ${name} signs in by ${method}, which has no equivalent`)
    return {}
  }
  return tokenHeader(monitor, name, variable)
}

function headersFrom(monitor: SourceValue, name: string, variable: VariableOf): ImportedHeaders {
  const headers = monitor.get('headers')
  const text = headers.text()
  if (text === undefined || text === '') return headersOf(headers.entries(), name, variable)
  const notes: ImportNote[] = []
  const document = parsed(text, notes)
  if (document?.json()?.startsWith('{') !== true)
    headers.note(`left out: the headers of ${name} are not JSON`)
  const named = headersOf(document?.entries() ?? [], name, variable)
  // Their places are within a quoted text.
  for (const { message } of notes) headers.note(message)
  return named
}

/** A value that is stored as a text of JSON; `undefined` when it is none. */
function parsed(text: string, notes: ImportNote[] = []): SourceValue | undefined {
  try {
    return readSource({ file: '', text }, notes)[0]
  } catch (error) {
    if (!(error instanceof UnreadableSource)) throw error
    return undefined
  }
}

function acceptedOf(monitor: SourceValue): AssertionForm {
  const given = monitor.first('accepted_statuscodes', 'accepted_statuscodes_json')
  const text = given.text()
  const listed = text === undefined ? given.texts() : codesOf(text)
  const status = statusOf(listed.length === 0 ? USUAL_CODES : listed, given)
  if (status === undefined || (listed.length === 0 && text !== undefined))
    given.note('left out: the accepted status codes are not understood')
  return status ?? { status: '2xx' }
}

function codesOf(json: string): readonly string[] {
  return parsed(json)?.texts() ?? []
}

function contentOf(monitor: SourceValue, type: string): readonly AssertionForm[] {
  if (type === 'json-query') {
    const path = monitor.first('jsonPath', 'json_path')
    path.note(`left out: Pharos has no assertion on values inside JSON: ${path.text()}`)
  }
  const keyword = monitor.get('keyword').text()
  if (type !== 'keyword' || keyword === undefined) return []
  if (monitor.first('invertKeyword', 'invert_keyword').flag() === true) {
    monitor.get('keyword').note('left out: Pharos has no assertion that a text is absent')
    return []
  }
  return [{ body: { contains: keyword } }]
}
