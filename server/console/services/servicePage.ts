import type { ServiceResponse } from '../../../api/contract/service.ts'
import { type Html, html } from '../../../web/html.ts'
import { stateLabel } from '../../../web/stateShapes.ts'
import { durationText, instant } from '../../../web/times.ts'
import { timestamp } from '../../domain/environment.ts'
import type { ServiceDay } from '../../results/measurements/measurements.ts'
import { historyBar, problemList } from '../../statusPages/pages/history.ts'
import { daysShown } from '../../statusPages/view/readPublicPage.ts'
import { uptimeOf, uptimeText } from '../../statusPages/view/uptime.ts'
import type { Faults } from '../forms/readForm.ts'
import type { RouteResponse, OrgRequest } from '../routing/route.ts'
import { actionForms, managedNotice } from './actionForms.ts'
import { definitionPart } from './definitionPart.ts'
import { eventsPart } from './eventsPart.ts'
import { latencyChart } from './latencyChart.ts'
import { resultsPart } from './resultsPart.ts'
import { readServiceRow, type ServiceRow } from './serviceRows.ts'

const HOUR_S = 3_600
const DAY_S = 24 * HOUR_S
/** Periods of the chart, and length of a point (seconds). */
const RANGES = [
  ['24h', '24 h', DAY_S, 300],
  ['7d', '7 d', 7 * DAY_S, HOUR_S],
  ['30d', '30 d', 30 * DAY_S, 3 * HOUR_S],
  ['90d', '90 d', 90 * DAY_S, 6 * HOUR_S],
] as const

/** The page of a service. `faults` are those of its settings of automatic incidents. */
export async function servicePage(request: OrgRequest, faults: Faults = {}): Promise<RouteResponse> {
  const { org, params, nowMs, measurements, query, root } = request
  const row = await readServiceRow(request, org.id, { serviceId: params.id ?? '', nowMs })
  if (row === undefined) return { kind: 'not found' }
  const { service } = row
  const endpoint = service.endpoints.find(({ id }) => id === query.get('endpoint')) ?? service.endpoints[0]
  const range = RANGES.find(([name]) => name === query.get('range')) ?? RANGES[0]
  const days = (await measurements?.days([service.id], daysShown(nowMs)[0] ?? '', today(nowMs))) ?? []
  const body = html`<h1><bdi>${service.name}</bdi></h1>
<div data-live="${service.id}"><p class="row">${stateLabel(row.state)} ${sinceText(row, nowMs)}${row.incident !== undefined && html`<a href="${root}/incidents/${row.incident.id}">${row.incident.display_id}</a>`}</p></div>
${await managedNotice(request, service.id)}
${await actionForms(request, row)}
<section class="group" aria-labelledby="days"><h2 id="days">90 days</h2>${daysPart(service.name, days, nowMs)}</section>
${whyPart(row)}
<section class="group" aria-labelledby="latency"><h2 id="latency">Latency, 95th percentile by region</h2>
${choices(request, { service, endpointId: endpoint?.id ?? '', range: range[0] })}
${await chartPart(request, endpoint?.id ?? '', range)}</section>
${await resultsPart(request, service)}
${await eventsPart(request, service)}
${await certificatesPart(request, service)}
${definitionPart(request, row, faults)}`
  const status = Object.keys(faults).length === 0 ? 200 : 422
  return { kind: 'page', title: service.name, section: 'services', body, status }
}

function sinceText({ sinceMs }: ServiceRow, nowMs: number): Html {
  return html`<span>since ${instant(timestamp(sinceMs))} (${durationText((nowMs - sinceMs) / 1_000)})</span>`
}

function today(nowMs: number): string {
  return timestamp(nowMs).slice(0, 10)
}

function daysPart(name: string, days: readonly ServiceDay[], nowMs: number): Html {
  const byDay = new Map(days.map((day) => [day.day, day]))
  const shown = daysShown(nowMs).map((day) => ({ day, seconds: byDay.get(day) ?? null }))
  const history = { uptime: null, uptimeDays: 0, days: shown }
  const uptimes = [1, 7, 30, 90].map((count) => {
    const uptime = uptimeOf(shown.slice(-count).map(({ seconds }) => seconds))
    return html`<div><dt>${count === 1 ? 'Today' : `${count} days`}</dt><dd>${uptime === null ? '–' : uptimeText(uptime)}</dd></div>`
  })
  return html`${historyBar(history)}<dl class="facts">${uptimes}</dl>${problemList(history, name)}`
}

/** Reasons why the service is not operational, by endpoint. */
function whyPart({ service, reasons }: ServiceRow): Html {
  const parts = service.endpoints.flatMap(({ id, url, name, call }) => {
    const own = reasons.filter(({ endpointId }) => endpointId === id)
    if (own.length === 0) return []
    const passing = service.regions.filter((region) => own.every((reason) => reason.region !== region))
    return [
      html`<h3><bdi>${name ?? `${call.Http.method} ${url}`}</bdi></h3><dl class="facts">${own.map(({ region, text }) => html`<div><dt>${region}</dt><dd><bdi>${text}</bdi></dd></div>`)}
${passing.length > 0 && html`<div><dt>${passing.join(', ')}</dt><dd>passes</dd></div>`}</dl>`,
    ]
  })
  return html`<div data-live="${service.id}">${parts.length > 0 && html`<section class="group" aria-labelledby="why"><h2 id="why">Why</h2>${parts}</section>`}</div>`
}

function choices(
  { root }: OrgRequest,
  {
    service,
    endpointId,
    range,
  }: { readonly service: ServiceResponse; readonly endpointId: string; readonly range: string },
): Html {
  const to = (name: string, endpoint: string): string =>
    `${root}/services/${service.id}?${new URLSearchParams({ range: name, endpoint })}#latency`
  return html`<p class="row">${RANGES.map(([name, text]) => html`<a href="${to(name, endpointId)}"${name === range && html` aria-current="true"`}>${text}</a>`)}</p>
${service.endpoints.length > 1 && html`<details><summary>Endpoints</summary><ul>${service.endpoints.map(({ id, name, url }) => html`<li><a href="${to(range, id)}"${id === endpointId && html` aria-current="true"`}><bdi>${name ?? url}</bdi></a></li>`)}</ul></details>`}`
}

async function chartPart(
  { measurements, nowMs }: OrgRequest,
  endpointId: string,
  [, , spanS, stepS]: (typeof RANGES)[number],
): Promise<Html> {
  if (measurements === undefined)
    return html`<p>No results: this server runs no checks, or cannot read results at present.</p>`
  const untilS = Math.ceil(nowMs / 1_000 / stepS) * stepS
  const fromS = untilS - spanS
  const lines = await measurements.latency({ endpointId, fromS, untilS, stepS })
  return latencyChart({ lines, fromS, untilS })
}

async function certificatesPart(
  { measurements, nowMs }: OrgRequest,
  { id }: ServiceResponse,
): Promise<Html | false> {
  const found = (await measurements?.certificates(id)) ?? []
  if (found.length === 0) return false
  return html`<section class="group" aria-labelledby="certificates"><h2 id="certificates">Certificates</h2><div class="scroll" tabindex="0"><table class="stack">
<thead><tr><th scope="col">Host</th><th scope="col">Subject</th><th scope="col">Issuer</th><th scope="col">Ends</th></tr></thead>
<tbody>${found.map(({ host, port, subject, issuer, notAfterS }) => html`<tr><th scope="row"><bdi>${host}:${port}</bdi></th><td data-of="Subject"><bdi>${subject}</bdi></td><td data-of="Issuer"><bdi>${issuer}</bdi></td><td data-of="Ends">${instant(timestamp(notAfterS * 1_000))} (${daysLeftText(notAfterS - nowMs / 1_000)})</td></tr>`)}</tbody></table></div></section>`
}

/** `42 days`, rounded down; `ended` and the time since then for a negative number. */
function daysLeftText(leftS: number): string {
  if (leftS <= 0) return `ended ${durationText(-leftS)} ago`
  const days = Math.floor(leftS / DAY_S)
  if (days === 0) return 'less than a day'
  return days === 1 ? '1 day' : `${days} days`
}
