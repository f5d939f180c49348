import { type Html, html } from '../../../web/html.ts'
import { instant } from '../../../web/times.ts'
import {
  type ChangeOrigin,
  MANAGERS,
  type Management,
  type Manager,
  managementOf,
} from '../../domain/changeOrigin.ts'
import { timestamp } from '../../domain/environment.ts'
import type { ServiceOrigins, StoredKey } from '../../store/store.ts'
import { isManaged } from '../services/actionForms.ts'
import { pageLinks, selectField } from '../frame/fields.ts'
import { orgPage, type OrgRequest, type Page, type Route } from '../routing/route.ts'

/** Services per page. */
const PAGE_COUNT = 100
/** Time without use after which a key is listed (milliseconds). */
const UNUSED_MS = 30 * 24 * 60 * 60 * 1_000

/** The tools that manage the services of an organisation. */
export const syncRoutes: readonly Route[] = [orgPage('sync', 'read', show)]

interface Row extends Management {
  readonly id: string
  readonly name: string
}

async function show(request: OrgRequest): Promise<Page> {
  const { store, org, query, root, nowMs, may } = request
  const rows = (await store.listOrigins(org.id)).map(rowOf)
  const keys = await store.listKeys(org.id)
  const wanted = MANAGERS.find((one) => one === query.get('tool'))
  const matching = rows.filter(({ manager }) => wanted === undefined || manager === wanted)
  // Services that differ from code come first.
  const sorted = [...matching.filter(differs), ...matching.filter((row) => !differs(row))]
  const pages = Math.max(1, Math.ceil(sorted.length / PAGE_COUNT))
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query.get('page'))) || 1))
  const shown = sorted.slice((page - 1) * PAGE_COUNT, page * PAGE_COUNT)
  const differing = rows.filter(differs).length
  const pathOf = (number: number) =>
    `${root}/sync?${new URLSearchParams({ ...(wanted === undefined ? {} : { tool: wanted }), page: String(number) })}`
  const body = html`<h1>Sync</h1>
${differing > 0 && html`<p class="notice">${differing === 1 ? '1 service differs' : `${differing} services differ`} from code after changes in the console. The next apply reverts these changes.</p>`}
<section class="group" aria-labelledby="tools"><h2 id="tools">Tools</h2>
<dl class="facts">${MANAGERS.map((tool) => toolCount(tool, rows, root))}</dl></section>
<section class="group" aria-labelledby="services"><h2 id="services">Services</h2>
<form class="filters" method="get" action="${root}/sync">
${selectField({ name: 'tool', label: 'Managed by', value: wanted, options: [['', 'Anything'], ...MANAGERS.map((tool) => [tool, tool] as const)] })}
<p class="row"><button>Show</button></p></form>
${shown.length === 0 ? html`<p>No services.</p>` : serviceTable(shown, { root, keys })}
${pageLinks('Services', { page, pages }, pathOf)}</section>
${may('manage keys') && unusedKeys(keys, nowMs, `${root}/settings/keys`)}`
  return { kind: 'page', title: 'Sync', section: 'sync', body }
}

function rowOf({ id, name, origins }: ServiceOrigins): Row {
  return { id, name, ...managementOf(origins) }
}

function toolCount(tool: Manager, rows: readonly Row[], root: string): Html {
  const own = rows.filter(({ manager }) => manager === tool)
  if (own.length === 0) return html``
  const last = own.map(({ origin }) => origin?.at ?? '').reduce((a, b) => (a > b ? a : b), '')
  return html`<div><dt>${tool}</dt><dd><a href="${root}/sync?tool=${tool}">${own.length === 1 ? '1 service' : `${own.length} services`}</a>${last !== '' && html`<br><span class="quiet">last change ${instant(last)}</span>`}</dd></div>`
}

function serviceTable(
  rows: readonly Row[],
  { root, keys }: { readonly root: string; readonly keys: readonly StoredKey[] },
): Html {
  const keyName = new Map(keys.map(({ id, last4 }) => [id, `…${last4}`]))
  return html`<div class="scroll" tabindex="0"><table class="stack">
<thead><tr><th scope="col">Service</th><th scope="col">Managed by</th><th scope="col">Last change by tool</th><th scope="col">Key</th><th scope="col">Source</th><th scope="col">Code</th></tr></thead>
<tbody>${rows.map(
    ({ id, name, manager, origin, differsSince }) => html`<tr>
<th scope="row"><a href="${root}/services/${id}"><bdi>${name}</bdi></a></th>
<td data-of="Managed by">${manager}${origin !== null && toolText(origin)}</td>
<td data-of="Last change by tool">${origin === null ? 'Not stored' : instant(origin.at)}</td>
<td data-of="Key">${origin?.keyId ? html`<code>${keyName.get(origin.keyId) ?? 'deleted'}</code>` : '–'}</td>
<td data-of="Source">${origin === null ? '–' : sourceText(origin)}</td>
<td data-of="Code">${codeText({ manager, differsSince })}</td></tr>`,
  )}</tbody></table></div>`
}

/** Whether a service differs from its code; requests of other clients of the API are not repeated. */
function differs(row: Row): boolean {
  return isManaged(row) && row.differsSince !== null
}

function codeText(row: Pick<Row, 'manager' | 'differsSince'>): Html {
  if (!isManaged(row)) return html`–`
  const { differsSince } = row
  return differsSince === null ? html`In sync` : html`<strong>Differs since ${instant(differsSince)}</strong>`
}

function toolText({ tool, toolVersion }: ChangeOrigin): Html {
  if (tool === null) return html``
  return html` <span class="quiet"><bdi>${toolVersion === null ? tool : `${tool} ${toolVersion}`}</bdi></span>`
}

function sourceText({ repository, commit, path }: ChangeOrigin): Html {
  const parts = [repository, path, commit?.slice(0, 12) ?? null].filter((part) => part !== null)
  return parts.length === 0 ? html`–` : html`<bdi>${parts.join(' ')}</bdi>`
}

function unusedKeys(keys: readonly StoredKey[], nowMs: number, path: string): Html {
  const unused = keys.filter(
    ({ revokedAt, usedAtMs, createdAt }) =>
      revokedAt === null && nowMs - (usedAtMs ?? Date.parse(createdAt)) > UNUSED_MS,
  )
  if (unused.length === 0) return html``
  return html`<section class="group" aria-labelledby="keys"><h2 id="keys">API keys not used for 30 days</h2>
<ul>${unused.map(
    ({ last4, note, usedAtMs }) =>
      html`<li><code>…${last4}</code> <bdi>${note ?? ''}</bdi> ${usedAtMs === null ? 'never used' : html`last used ${instant(timestamp(usedAtMs))}`}</li>`,
  )}</ul><p><a href="${path}">Manage API keys</a></p></section>`
}
