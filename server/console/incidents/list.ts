import type { Incident } from '../../../api/contract/incident.ts'
import { SECTIONS, SEVERITIES } from '../../../api/contract/incidentTerms.ts'
import { isLongerThan } from '../../../api/contract/text.ts'
import { type Html, html } from '../../../web/html.ts'
import { icon } from '../../../web/stateShapes.ts'
import { durationText, instant } from '../../../web/times.ts'
import { SEVERITY_LABELS, STATUS_LABELS } from '../../domain/notifications/incidentLabels.ts'
import { itemsOf } from '../../store/shared/readIncidents.ts'
import type { IncidentFilter, IncidentList } from '../../store/store.ts'
import { selectField, textField } from '../frame/fields.ts'
import type { RouteResponse, OrgRequest } from '../routing/route.ts'
import { SEVERITY_STATES } from './severityStates.ts'

const PAGE_ROWS = 100
/** Longest search text (code points), as in the API. */
const SEARCH_CHARS_MAX = 200
const SEVERITY_OPTIONS = [
  ['', 'All'],
  ...SEVERITIES.map((one) => [one, SEVERITY_LABELS[one]] as const),
] as const
const SECTION_OPTIONS = [
  ['active', 'Active'],
  ['resolved', 'Resolved'],
] as const

/** GET /o/:org/incidents. */
export async function listIncidents({
  store,
  org,
  query,
  root,
  may,
  nowMs,
}: OrgRequest): Promise<RouteResponse> {
  const asked = filterOf(query)
  const { list, filter } = await lastPageOr(store, org.id, asked)
  const { total } = list
  const items = await itemsOf(list)
  const body = html`<h1>Incidents ${may('operate') && html`<a class="button main" href="${root}/incidents/new">New incident</a>`}</h1>
<form class="group" method="get" action="${root}/incidents"><div class="filters">
${textField({ name: 'q', label: 'Title or number', type: 'search', value: filter.q ?? '', isRequired: false })}
${selectField({ name: 'section', label: 'Section', value: filter.section, options: SECTION_OPTIONS })}
${selectField({ name: 'severity', label: 'Severity', value: filter.severity ?? '', options: SEVERITY_OPTIONS })}
<p><button>Show</button></p></div></form>
<section class="group" aria-label="Incidents">
${items.length === 0 ? html`<p>${filter.section === 'active' ? 'No active incidents match.' : 'No resolved incidents match.'}</p>` : incidentTable(items, root, nowMs)}
${pager(total, filter, root)}</section>`
  return { kind: 'page', title: 'Incidents', section: 'incidents', body }
}

/** The list, of the last page when the page of `filter` is beyond it: incidents may have been resolved meanwhile. */
async function lastPageOr(
  store: OrgRequest['store'],
  orgId: string,
  filter: IncidentFilter,
): Promise<{ readonly list: IncidentList; readonly filter: IncidentFilter }> {
  const list = await store.listIncidents(orgId, filter, async () => {})
  const page = Math.max(1, Math.ceil(list.total / PAGE_ROWS))
  if (filter.page <= page) return { list, filter }
  const last = { ...filter, page }
  return { list: await store.listIncidents(orgId, last, async () => {}), filter: last }
}

function filterOf(query: URLSearchParams): IncidentFilter {
  const q = query.get('q') ?? ''
  const page = query.get('page') ?? ''
  return {
    section: SECTIONS.find((one) => one === query.get('section')) ?? 'active',
    q: q === '' || isLongerThan(q, SEARCH_CHARS_MAX) ? undefined : q,
    severity: SEVERITIES.find((one) => one === query.get('severity')),
    serviceIds: [],
    page: /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1,
    limit: PAGE_ROWS,
  }
}

function incidentTable(items: readonly Incident[], root: string, nowMs: number): Html {
  return html`<div class="scroll" tabindex="0"><table class="stack">
<thead><tr><th scope="col">Incident</th><th scope="col">Severity</th><th scope="col">Status</th><th scope="col">Since</th><th scope="col">Duration</th></tr></thead>
<tbody>${items.map(
    (
      one,
    ) => html`<tr><th scope="row"><a href="${root}/incidents/${one.id}">${one.display_id} <bdi>${one.title}</bdi></a>${one.auto_managed && html` <span class="quiet">automatic</span>`}</th>
<td data-of="Severity">${icon(SEVERITY_STATES[one.severity])} ${SEVERITY_LABELS[one.severity]}</td>
<td data-of="Status">${STATUS_LABELS[one.status]}</td>
<td data-of="Since">${instant(one.created_at)}</td>
<td data-of="Duration">${durationOf(one, nowMs)}</td></tr>`,
  )}</tbody></table></div>`
}

/** Duration of an incident so far, or until it was resolved. Pure. */
export function durationOf({ created_at, resolved_at }: Incident, nowMs: number): string {
  const endMs = resolved_at === null ? nowMs : Date.parse(resolved_at)
  return durationText(Math.max(0, endMs - Date.parse(created_at)) / 1_000)
}

function pager(total: number, { section, q, severity, page }: IncidentFilter, root: string): Html | false {
  const last = Math.ceil(total / PAGE_ROWS)
  if (last <= 1) return false
  const to = (number: number) =>
    `${root}/incidents?${new URLSearchParams({ section, q: q ?? '', severity: severity ?? '', page: String(number) })}`
  return html`<nav class="pages" aria-label="Pages">
${page > 1 && html`<a href="${to(page - 1)}" rel="prev">Newer</a>`}
<span>Page ${page} of ${last}, ${total} incidents</span>
${page < last && html`<a href="${to(page + 1)}" rel="next">Older</a>`}</nav>`
}
