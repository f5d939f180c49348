import type { Assertion } from '../../../api/contract/assertion.ts'
import { METHODS } from '../../../api/contract/service.ts'
import { type Html, html } from '../../../web/html.ts'
import { REGIONS } from '../../domain/regions.ts'
import type { Faults } from '../forms/readForm.ts'
import { versionSeen } from '../forms/version.ts'
import { ALERT, faultText, problemNotice, selectField, textArea, textField } from '../frame/fields.ts'
import type { OrgRequest, Page } from '../routing/route.ts'
import { confirmBox, managementOfService } from './actionForms.ts'
import { definitionText } from './definitionText.ts'
import { readServiceRow } from './serviceRows.ts'

const INTERVAL_S = 60

/** The forms for a new service: some fields for one endpoint, or the complete definition. */
export function newServicePage(request: OrgRequest, fault?: string): Page {
  const { form, actions } = request
  const value = (name: string, otherwise = ''): string => form.get(name) ?? otherwise
  const regions = new Set(form.getAll('region'))
  const faults = fault === undefined ? {} : newServiceFaults(form, fault)
  const body = html`<h1>New service</h1>
${problemNotice(faults[''])}
<section class="group" aria-labelledby="short"><h2 id="short">One endpoint</h2>
<form method="post" action="${actions}/services">
${textField({ name: 'name', label: 'Name', value: value('name'), fault: faults.name })}
${textField({ name: 'url', label: 'URL', type: 'url', value: value('url'), hint: 'For example: https://shop.example.org/health', fault: faults.url })}
${selectField({ name: 'method', label: 'Method', value: value('method', 'GET'), options: METHODS.map((method) => [method, method] as const), fault: faults.method })}
${textField({ name: 'interval', label: 'Interval (seconds)', type: 'number', value: value('interval', String(INTERVAL_S)), fault: faults.interval })}
<fieldset${faults.region !== undefined && html` aria-describedby="e-region"`}><legend>Regions</legend>${REGIONS.map(({ code, city }, index) => html`<label class="choice"><input type="checkbox" name="region" value="${code}"${(regions.has(code) || (!form.has('name') && index === 0)) && html` checked`}>${city} (${code})</label>`)}${faultText('region', faults.region)}</fieldset>
${textField({ name: 'status', label: 'Expected status', type: 'number', value: value('status', '200'), isRequired: false, fault: faults.status })}
${textField({ name: 'latency', label: 'Maximum latency (milliseconds)', type: 'number', value: value('latency'), isRequired: false, fault: faults.latency })}
${textField({ name: 'contains', label: 'Body contains', value: value('contains'), isRequired: false, fault: faults.contains })}
<button class="main">Create service</button></form></section>
<section class="group" aria-labelledby="whole"><h2 id="whole">Complete definition</h2>
<form method="post" action="${actions}/services">
${textArea({ name: 'definition', label: 'JSON', hint: 'The body of POST /v1/services.', value: value('definition'), rows: 14, isCode: true, fault: faults.definition })}
<button>Create service</button></form></section>`
  return {
    kind: 'page',
    title: 'New service',
    section: 'services',
    body,
    ...(fault && { status: 422 }),
  }
}

/** Places in the definition of one endpoint, with their fields. */
const SHORT_FIELDS = [
  [/^name: /, 'name'],
  [/^endpoints\[0\]\.url: /, 'url'],
  [/^endpoints\[0\]\.call\.Http\.method: /, 'method'],
  [/^(?:plan limit: interval_secs |interval_secs: )/, 'interval'],
  [/^regions(?:\[\d+\])?: /, 'region'],
  [/^endpoints\[0\]\.assertions\[\d\]\.StatusCode\.[\w.]+: /, 'status'],
  [/^endpoints\[0\]\.assertions\[\d\]\.Latency\.[\w.]+: /, 'latency'],
  [/^endpoints\[0\]\.assertions\[\d\]\.Body\.[\w.]+: /, 'contains'],
] as const

/** The fault of the form that was sent, by its field; '' for one that belongs to no field. Pure. */
function newServiceFaults(form: URLSearchParams, fault: string): Faults {
  if (form.has('definition')) return { definition: fault }
  const [place, field = ''] = SHORT_FIELDS.find(([prefix]) => prefix.test(fault)) ?? []
  if (place === undefined) return { '': fault }
  const text = field === 'latency' ? 'must be a whole number of milliseconds' : fault.replace(place, '')
  return { [field]: text }
}

/** The definition from the fields for one endpoint, as JSON. It is validated later, like every definition. Pure. */
export function shortDefinition(form: URLSearchParams): string {
  const text = (name: string): string => (form.get(name) ?? '').trim()
  // Other text stays text, so that validation reports it.
  const number = (name: string): unknown => (/^\d+$/.test(text(name)) ? Number(text(name)) : text(name))
  const assertions: unknown[] = []
  if (text('status') !== '') assertions.push({ StatusCode: { expected: { Eq: number('status') } } })
  if (text('latency') !== '') assertions.push(longestLatency(number('latency')))
  if (text('contains') !== '') {
    assertions.push({ Body: { matcher: { Contains: text('contains') } } } satisfies Assertion)
  }
  const Http = { method: text('method'), timeout: null }
  return JSON.stringify({
    name: text('name'),
    interval_secs: number('interval'),
    regions: form.getAll('region'),
    endpoints: [{ url: text('url'), name: null, call: { Http }, assertions }],
  })
}

const MS_PER_SECOND = 1_000
const NANOS_PER_MS = 1_000_000

function longestLatency(ms: unknown): unknown {
  if (typeof ms !== 'number') return { Latency: { l_type: 'TotalLatency', expected: { LessThan: ms } } }
  const nanos = (ms % MS_PER_SECOND) * NANOS_PER_MS
  const LessThan = { secs: Math.floor(ms / MS_PER_SECOND), nanos }
  return { Latency: { l_type: 'TotalLatency', expected: { LessThan } } }
}

/** Why an edited definition was not saved. */
export type EditFault =
  | { readonly kind: 'invalid'; readonly message: string }
  /** The service has changed meanwhile. */
  | { readonly kind: 'changed' }

/** The form with the complete definition of a service; `undefined` when there is no such service. */
export async function editServicePage(request: OrgRequest, fault?: EditFault): Promise<Page | undefined> {
  const { org, params, nowMs, form, actions, root } = request
  const row = await readServiceRow(request, org.id, { serviceId: params.id ?? '', nowMs })
  if (row === undefined) return undefined
  const { service, generation } = row
  const stored = definitionText(service)
  const management = await managementOfService(request, service.id)
  const body = html`<h1>Edit <bdi>${service.name}</bdi></h1>
${editNotice(fault)}
<section class="group" aria-labelledby="whole"><h2 id="whole">Definition</h2>
<form method="post" action="${actions}/services/${service.id}/replace">
<input type="hidden" name="generation" value="${versionSeen(form, 'generation', { current: String(generation), isOutdated: fault?.kind === 'changed' })}">
${textArea({ name: 'definition', label: 'JSON', hint: 'The body of PATCH /v1/services/:id. A sealed value is kept if the URL, method and name of its endpoint stay the same.', value: form.get('definition') ?? stored, rows: 24, isCode: true })}
${confirmBox(management)}<p class="row"><button class="main">Save</button><a class="button" href="${root}/services/${service.id}">Cancel</a></p></form></section>
${fault?.kind === 'changed' && html`<section class="group" aria-labelledby="theirs"><h2 id="theirs">Current definition</h2><pre>${stored}</pre></section>`}`
  const status = fault === undefined ? {} : { status: fault.kind === 'changed' ? 409 : 422 }
  return { kind: 'page', title: `Edit ${service.name}`, section: 'services', body, ...status }
}

function editNotice(fault: EditFault | undefined): Html | false {
  if (fault === undefined) return false
  const text =
    fault.kind === 'invalid'
      ? fault.message
      : 'The service has changed since you opened it. Your version is in the form, the current one below. Saving again replaces it.'
  return html`<p class="notice bad"${ALERT}>${text}</p>`
}
