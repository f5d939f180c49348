import { type Html, html } from '../../../web/html.ts'
import { SHOWN_STATES, type ShownState, STATE_LABELS, stateLabel } from '../../../web/stateShapes.ts'
import { durationText, instant } from '../../../web/times.ts'
import { timestamp } from '../../domain/environment.ts'
import type { ServiceDay, ServiceNow } from '../../results/measurements/measurements.ts'
import { uptimeOf, uptimeText } from '../../statusPages/view/uptime.ts'
import { pageLinks, selectField, textField } from '../frame/fields.ts'
import type { OrgRequest, Page } from '../routing/route.ts'
import { hourBar } from './hourBar.ts'
import {
  matchingRows,
  PAGE_COUNT,
  readServiceQuery,
  type ServiceQuery,
  SORTS,
  serviceQueryText,
} from './serviceQuery.ts'
import { type ListRow, readListRows } from './serviceRows.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
/** Days of the uptime in the list. */
const UPTIME_DAYS = 30

/** The list of services. Failing ones come first, with their reasons. */
export async function servicesPage(request: OrgRequest): Promise<Page> {
  const { org, query, nowMs } = request
  const serviceQuery = readServiceQuery(query)
  const rows = await readListRows(request, org.id, nowMs)
  if (query.get('look') === 'wall') return wallPage(request, rows)
  if (rows.length === 0) return emptyPage(request)
  const found = matchingRows(rows, serviceQuery)
  const pages = Math.max(1, Math.ceil(found.length / PAGE_COUNT))
  const page = Math.min(serviceQuery.page, pages)
  const shown = found.slice((page - 1) * PAGE_COUNT, page * PAGE_COUNT)
  const measured = await readMeasured(request, shown)
  const body = html`<div data-live="services"><h1>Services ${request.may('operate') && html`<a class="button main" href="${request.root}/services/new">New service</a>`}</h1>
<p class="row">${summary(rows)}</p></div>
${filters(request, serviceQuery)}
<section class="group" aria-labelledby="list" data-live="services"><h2 id="list" class="unseen">List of services</h2>
${found.length === 0 ? html`<p>No service matches.</p>` : table(request, shown, measured)}
${found.length > 0 && html`<p class="quiet">${(page - 1) * PAGE_COUNT + 1}–${(page - 1) * PAGE_COUNT + shown.length} of ${found.length}</p>`}
${pageLinks('Pages of services', { page, pages }, (number) => `${request.root}/services${serviceQueryText(serviceQuery, { page: number })}`)}</section>`
  return { kind: 'page', title: 'Services', section: 'services', body }
}

function summary(rows: readonly ListRow[]): readonly Html[] {
  return SHOWN_STATES.flatMap((state) => {
    const count = rows.filter((row) => row.state === state).length
    return count === 0 ? [] : [html`<span>${count} ${stateLabel(state)}</span>`]
  })
}

function filters({ root }: OrgRequest, { state, q, sort }: ServiceQuery): Html {
  const states = SHOWN_STATES.map((one): readonly [ShownState, string] => [one, STATE_LABELS[one]])
  return html`<form class="filters" method="get" action="${root}/services" role="search">
${textField({ name: 'q', label: 'Find', type: 'search', value: q, isRequired: false })}
${selectField({ name: 'state', label: 'State', value: state, options: [['', 'All'], ...states] })}
${selectField({ name: 'sort', label: 'Sort', value: sort, options: SORTS })}
<p class="field"><button>Show</button></p></form>`
}

function table(
  { root, nowMs }: OrgRequest,
  rows: readonly ListRow[],
  measured: ReadonlyMap<string, Measured>,
): Html {
  return html`<div class="scroll" tabindex="0"><table class="stack">
<thead><tr><th scope="col">Service</th><th scope="col">State</th><th scope="col">Last 24 h</th><th scope="col" class="number">Uptime ${UPTIME_DAYS} d</th><th scope="col" class="number">p95</th><th scope="col">Checks</th><th scope="col">Last check</th></tr></thead>
<tbody>${rows.map((row) => tableRow(row, { root, nowMs, ...measured.get(row.service.id) }))}</tbody></table></div>`
}

function tableRow(
  row: ListRow,
  { root, nowMs, now, uptime = null }: { readonly root: string; readonly nowMs: number } & Partial<Measured>,
): Html {
  const { service, state, p95Ms } = row
  const { id, name, checks, intervalS } = service
  return html`<tr><th scope="row"><a href="${root}/services/${id}"><bdi>${name}</bdi></a>${reason(row, now, root)}</th>
<td data-of="State">${stateLabel(state)} <span class="quiet">${sinceText(row, nowMs)}</span></td>
<td data-of="Last 24 h">${now === undefined ? '–' : hourBar(now.hours)}</td>
<td class="number" data-of="Uptime ${UPTIME_DAYS} d">${uptime === null ? '–' : uptimeText(uptime)}</td>
<td class="number" data-of="p95">${p95Ms === null ? '–' : `${Math.round(p95Ms)} ms`}</td>
<td class="short" data-of="Checks">${checks} × ${intervalS} s</td>
<td class="short" data-of="Last check">${now?.lastResultS == null ? 'none yet' : `${ago(now.lastResultS, nowMs)} ago`}</td></tr>`
}

/** The first reason why a service is not operational, with its regions. */
function reason({ service, incident }: ListRow, now: ServiceNow | undefined, root: string): Html | false {
  const reasons = service.pausedAt === null ? (now?.reasons ?? []) : []
  const [first] = reasons
  const regions = reasons.filter(({ text }) => text === first?.text).map(({ region }) => region)
  if (first === undefined && incident === undefined) return false
  return html`<br><span class="reason">${first !== undefined && html`<bdi>${first.text}</bdi> (${[...new Set(regions)].join(', ')})`} ${incident !== undefined && html`<a href="${root}/incidents/${incident.id}">${incident.display_id}</a>`}</span>`
}

function sinceText({ sinceMs, state }: ListRow, nowMs: number): string {
  return state === 'operational' ? '' : `for ${durationText((nowMs - sinceMs) / 1_000)}`
}

function ago(atS: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round(nowMs / 1_000 - atS))
  return seconds < 60 ? `${seconds} s` : durationText(seconds)
}

/** Measurements of a row. */
interface Measured {
  readonly now: ServiceNow | undefined
  /** Over UPTIME_DAYS; `null` without counted time. */
  readonly uptime: number | null
}

/** The measurements of `rows` by service id. */
async function readMeasured(
  { org, measurements, nowMs }: OrgRequest,
  rows: readonly ListRow[],
): Promise<ReadonlyMap<string, Measured>> {
  if (measurements === undefined || rows.length === 0) return new Map()
  const from = timestamp(nowMs - (UPTIME_DAYS - 1) * DAY_MS).slice(0, 10)
  const ids = rows.map(({ service }) => service.id)
  const [states, days] = await Promise.all([
    measurements.states(org.id, ids),
    measurements.days(ids, from, timestamp(nowMs).slice(0, 10)),
  ])
  const nowOf = new Map(states.map((now) => [now.id, now]))
  const daysOf = new Map<string, ServiceDay[]>(ids.map((id) => [id, []]))
  for (const day of days) daysOf.get(day.serviceId)?.push(day)
  return new Map(ids.map((id) => [id, { now: nowOf.get(id), uptime: uptimeOf(daysOf.get(id) ?? []) }]))
}

/** For a wall screen: services that need attention, in large letters. */
async function wallPage({ org, measurements, nowMs }: OrgRequest, rows: readonly ListRow[]): Promise<Page> {
  const query: ServiceQuery = { state: undefined, q: '', sort: 'attention', page: 1 }
  const bad = matchingRows(rows, query).filter(({ state }) => ['down', 'degraded', 'unknown'].includes(state))
  const shown = bad.slice(0, PAGE_COUNT)
  const ids = shown.map(({ service }) => service.id)
  const states = (await measurements?.states(org.id, ids)) ?? []
  const reasonOf = new Map(states.map(({ id, reasons }) => [id, reasons[0]?.text]))
  const items = shown.map((row) => {
    const { id, name } = row.service
    const text = reasonOf.get(id)
    return html`<li>${stateLabel(row.state)} <strong><bdi>${name}</bdi></strong> <span class="quiet">${sinceText(row, nowMs)}</span>${text !== undefined && html`<p><bdi>${text}</bdi></p>`}</li>`
  })
  const body = html`<div class="wall" data-live="services"><h1>${bad.length === 0 ? 'No service needs attention' : `${bad.length} of ${rows.length} services ${bad.length === 1 ? 'needs' : 'need'} attention`}</h1>
<ul>${items}</ul>
<p class="quiet">As of ${instant(timestamp(nowMs))}</p></div>`
  return { kind: 'page', title: 'Services', section: 'services', body, isBare: true }
}

function emptyPage({ root, may }: OrgRequest): Page {
  const body = html`<h1>Services</h1>
<section class="group" aria-labelledby="first"><h2 id="first">Monitor your first service</h2>
<ol><li>As code: ${may('manage keys') ? html`<a href="${root}/settings/keys">create an API key</a>` : 'ask an owner for an API key'}, then run <code>pharos apply</code> or <code>terraform apply</code> with it.</li>
<li>Or ${may('operate') ? html`<a href="${root}/services/new">create one here</a>` : 'ask a member to create one here'}; it can be exported as code later.</li>
<li>Its first check starts within two seconds.</li></ol></section>`
  return { kind: 'page', title: 'Services', section: 'services', body }
}
