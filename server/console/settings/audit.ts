import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Html, html } from '../../../web/html.ts'
import { exactInstant } from '../../../web/times.ts'
import type { NamedAuditEntry } from '../../store/notificationStore.ts'
import { selectField, textField } from '../frame/fields.ts'
import { orgPage, type OrgRequest, type Page, type Route, type RouteResponse } from '../routing/route.ts'
import { ACTOR_KINDS, type AuditQuery, readAuditQuery, writeAuditQuery } from './auditQuery.ts'
import { csv } from './csv.ts'

/** Entries per page. */
const PAGE_COUNT = 100
/** Entries of a file, and entries per read: the API runs between reads. */
const FILE_COUNT = 10_000
const SLICE_COUNT = 1_000

/** The audit log. */
export const auditRoutes: readonly Route[] = [
  orgPage('settings/audit', 'read audit log', show),
  orgPage('settings/audit.csv', 'read audit log', download),
]

async function show({ store, org, query, root }: OrgRequest): Promise<Page> {
  const auditQuery = readAuditQuery(query)
  const { filter, beforeSeq } = auditQuery
  const found = await store.findAudit(org.id, filter, { beforeSeq, countMax: PAGE_COUNT + 1 })
  const entries = found.slice(0, PAGE_COUNT)
  const path = `${root}/settings/audit`
  const older = found.length > PAGE_COUNT ? entries.at(-1)?.seq : undefined
  const body = html`<h1>Audit log</h1>
${filterForm(auditQuery, path)}
<section class="group" aria-labelledby="entries"><h2 id="entries">Entries</h2>
${entries.length === 0 ? html`<p>No entries match.</p>` : entryTable(entries)}
${
  (beforeSeq !== undefined || older !== undefined) &&
  html`<nav class="pages" aria-label="Entries">
${beforeSeq !== undefined && html`<a href="${path}${writeAuditQuery({ filter, beforeSeq: undefined })}">Newest</a>`}
${older !== undefined && html`<a href="${path}${writeAuditQuery({ filter, beforeSeq: older })}" rel="next">Older</a>`}
</nav>`
}</section>
<p><a class="button" href="${path}.csv${writeAuditQuery({ filter, beforeSeq: undefined })}" download>Download as CSV</a>
<span class="quiet">(the newest ${FILE_COUNT.toLocaleString('en')} that match)</span></p>`
  return { kind: 'page', title: 'Audit log', section: 'audit', body }
}

function filterForm({ filter }: AuditQuery, path: string): Html {
  const text = { isRequired: false } as const
  return html`<form class="group filters" method="get" action="${path}" role="search" aria-label="Entries">
${selectField({ name: 'actor', label: 'By', value: filter.actorKind, options: [['', 'Anyone'], ...ACTOR_KINDS] })}
${textField({ ...text, name: 'action', label: 'Action', hint: 'For example: key or key.create', value: filter.action })}
${textField({ ...text, name: 'target', label: 'Id of the target', value: filter.targetId })}
${textField({ ...text, name: 'from', label: 'From (UTC day)', type: 'date', value: filter.from })}
${textField({ ...text, name: 'to', label: 'To (UTC day)', type: 'date', value: filter.to })}
<p class="row"><button class="main">Show</button> <a href="${path}">Clear</a></p></form>`
}

function entryTable(entries: readonly NamedAuditEntry[]): Html {
  return html`<div class="scroll" tabindex="0"><table class="stack">
<thead><tr><th scope="col">Time</th><th scope="col">By</th><th scope="col">Action</th><th scope="col">Target</th><th scope="col">Detail</th></tr></thead>
<tbody>${entries.map(
    (entry) => html`<tr><th scope="row">${exactInstant(entry.at)}</th>
<td data-of="By"><bdi>${actorText(entry)}</bdi></td>
<td data-of="Action"><code>${entry.action}</code></td>
<td data-of="Target"><code><bdi>${entry.targetId}</bdi></code></td>
<td data-of="Detail"><bdi>${detailText(entry)}</bdi></td></tr>`,
  )}</tbody></table></div>`
}

/** Name of the actor. Pure. */
function actorText({ actorKind, actor, actorName }: NamedAuditEntry): string {
  switch (actorKind) {
    case 'person':
      return actorName ?? `Person ${actor}`
    case 'key':
      return actorName === null ? `API key ${actor}` : `API key …${actorName}`
    case 'cli':
      return 'Command line'
    case 'system':
      return 'System'
  }
}

/** `name: value` of each member. Pure. */
function detailText({ detail }: NamedAuditEntry): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}

async function download({ store, org, query }: OrgRequest): Promise<RouteResponse> {
  const { filter } = readAuditQuery(query)
  const entries: NamedAuditEntry[] = []
  for (;;) {
    const countMax = Math.min(SLICE_COUNT, FILE_COUNT - entries.length)
    const found = await store.findAudit(org.id, filter, { beforeSeq: entries.at(-1)?.seq, countMax })
    entries.push(...found)
    if (found.length < SLICE_COUNT || entries.length >= FILE_COUNT) break
    await nextTurn()
  }
  const content = csv([
    ['time', 'actor_kind', 'actor_id', 'actor', 'action', 'target_id', 'detail'],
    ...entries.map((entry) => [
      ...[entry.at, entry.actorKind, entry.actor ?? '', actorText(entry), entry.action, entry.targetId],
      JSON.stringify(entry.detail),
    ]),
  ])
  return { kind: 'file', type: 'text/csv; charset=utf-8', name: 'audit.csv', content }
}
