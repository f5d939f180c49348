import { readableTextProblem } from '../../../api/contract/text.ts'
import { type Html, html } from '../../../web/html.ts'
import { STORED_PER_ACTIVE_SERVICE } from '../../domain/planLimits.ts'
import type { OrgUse } from '../../store/store.ts'
import { textField } from '../frame/fields.ts'
import {
  orgAction,
  orgPage,
  type OrgRequest,
  type Page,
  type Route,
  type RouteResponse,
} from '../routing/route.ts'

/** Longest name of an organisation (code points). Gap G35. */
const NAME_CHARS_MAX = 200
const BYTES_PER_MIB = 1_024 * 1_024

/** The page of an organisation: name, limits and usage. */
export const organisationRoutes: readonly Route[] = [
  orgPage('settings/organisation', 'read', (request) => show(request, undefined)),
  orgAction('organisation', 'manage organisation', rename),
]

async function show(request: OrgRequest, fault: string | undefined): Promise<Page> {
  const { store, org, may, form, actions } = request
  const use = await store.orgUse(org.id)
  const body = html`<h1>Organisation</h1>
<section class="group" aria-labelledby="facts"><h2 id="facts"><bdi>${org.name}</bdi></h2>
<dl class="facts"><div><dt>Id</dt><dd><code>${org.id}</code></dd></div><div><dt>Plan</dt><dd>${org.plan}</dd></div></dl>
${
  may('manage organisation') &&
  html`<form method="post" action="${actions}/organisation">
${textField({ name: 'name', label: 'Name', value: form.get('name') ?? org.name, fault })}
<button>Rename</button></form>`
}</section>
<section class="group" aria-labelledby="use"><h2 id="use">Plan limits and usage</h2>${useTable(use)}
<p class="quiet">The operator of this server changes plans.</p></section>`
  const response: Page = { kind: 'page', title: 'Organisation', section: 'organisation', body }
  return fault === undefined ? response : { ...response, status: 422 }
}

function useTable({ limits, usage, incidentBytes }: OrgUse): Html {
  const rows = [
    ['Active services', usage.activeServices, limits.servicesMax],
    ['Services, including paused ones', usage.storedServices, limits.servicesMax * STORED_PER_ACTIVE_SERVICE],
    ['Endpoints of active services', usage.activeEndpoints, limits.endpointsMax],
    ['Incidents (MiB)', Math.ceil(incidentBytes / BYTES_PER_MIB), limits.incidentsMibMax],
  ] as const
  return html`<dl class="uses">${rows.map(
    ([name, used, max]) =>
      html`<div><dt>${name}</dt><dd>${counted(used)} of ${counted(max)}${bar(used, max)}</dd></div>`,
  )}</dl>
<dl class="facts"><div><dt>Endpoints of one service</dt><dd>at most ${counted(limits.serviceEndpointsMax)}</dd></div>
<div><dt>Check interval</dt><dd>at least ${limits.intervalSecsMin} s</dd></div>
<div><dt>Retention of results</dt><dd>${limits.resultsDays} days</dd></div>
<div><dt>Regions</dt><dd>${limits.regionsAllowed?.join(', ') ?? 'all'}</dd></div></dl>`
}

function counted(number: number): string {
  return number.toLocaleString('en')
}

/** Width of a bar (SVG units). */
const BAR_WIDTH = 100

function bar(used: number, max: number): Html {
  const width = max === 0 ? BAR_WIDTH : Math.min(BAR_WIDTH, Math.round((used / max) * BAR_WIDTH))
  return html`<svg class="use" viewBox="0 0 ${BAR_WIDTH} 4" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect width="${BAR_WIDTH}" height="4" class="d-none"/><rect width="${width}" height="4" class="${width >= BAR_WIDTH ? 'd-degraded' : 'd-operational'}"/></svg>`
}

async function rename(request: OrgRequest): Promise<RouteResponse> {
  const { store, org, form, by, nowMs, root } = request
  const name = (form.get('name') ?? '').trim()
  const problem = readableTextProblem(name, { charsMax: NAME_CHARS_MAX, lines: 'one line' })
  if (problem !== undefined) return show(request, problem)
  await store.renameOrg({ orgId: org.id, name, by, nowMs })
  return { kind: 'redirect', to: `${root}/settings/organisation`, flash: 'Organisation renamed.' }
}
