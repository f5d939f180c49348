import type { ServiceResponse } from '../../../api/contract/service.ts'
import { type Html, html } from '../../../web/html.ts'
import { exactInstant } from '../../../web/times.ts'
import { timestamp } from '../../domain/environment.ts'
import { PHASES, type ServiceResult } from '../../results/measurements/measurements.ts'
import type { OrgRequest } from '../routing/route.ts'

/** Results per page. */
const RESULTS = 15
const US_PER_MS = 1_000

/** The newest results of a service, filtered by the query: one region, or failed ones only. */
export async function resultsPart(
  { measurements, query, root }: OrgRequest,
  { id, regions, endpoints }: ServiceResponse,
): Promise<Html | false> {
  if (measurements === undefined) return false
  const region = regions.find((one) => one === query.get('region'))
  const isFailedOnly = query.get('failed') === 'yes'
  const before = query.get('before') ?? undefined
  const resultsQuery = { serviceId: id, region, isFailedOnly, limit: RESULTS + 1 }
  const found = await measurements
    .results({ ...resultsQuery, before })
    // An invalid cursor: shows the newest results.
    .catch(() => measurements.results(resultsQuery))
  const shown = found.slice(0, RESULTS)
  const last = found.length > RESULTS ? shown.at(-1) : undefined
  const to = (changes: Readonly<Record<string, string>>): string => {
    const kept = { ...(region && { region }), ...(isFailedOnly && { failed: 'yes' }), ...changes }
    return `${root}/services/${id}?${new URLSearchParams(kept)}#results`
  }
  const nameOf = new Map(endpoints.map(({ id: endpointId, name, url }) => [endpointId, name ?? url]))
  return html`<section class="group" aria-labelledby="results"><h2 id="results">Results</h2>
<form class="filters" method="get" action="${root}/services/${id}#results">
<div class="field"><label for="f-region">Region</label><select id="f-region" name="region"><option value="">All</option>${regions.map((one) => html`<option${one === region && html` selected`}>${one}</option>`)}</select></div>
<div class="field"><label class="choice"><input type="checkbox" name="failed" value="yes"${isFailedOnly && html` checked`}>Failed only</label></div>
<p class="field"><button>Show</button></p></form>
${shown.length === 0 ? html`<p>No results.</p>` : resultTable(shown, nameOf)}
${(before !== undefined || last !== undefined) && html`<nav class="pages" aria-label="Results">${before !== undefined && html`<a href="${to({})}">Newest</a>`}${last !== undefined && html`<a href="${to({ before: last.cursor })}" rel="next">Older</a>`}</nav>`}</section>`
}

function resultTable(results: readonly ServiceResult[], nameOf: ReadonlyMap<string, string>): Html {
  return html`<div class="scroll" tabindex="0"><table class="stack">
<thead><tr><th scope="col">Time</th><th scope="col">Region</th><th scope="col">Endpoint</th><th scope="col">Outcome</th><th scope="col" class="number">Status</th><th scope="col" class="number">Total</th><th scope="col">Phases (ms)</th></tr></thead>
<tbody>${results.map(
    ({ atS, region, endpointId, outcome, reason, status, phases, details }) =>
      html`<tr><th scope="row">${exactInstant(timestamp(atS * 1_000))}</th><td class="short" data-of="Region">${region}</td><td data-of="Endpoint"><bdi>${nameOf.get(endpointId) ?? 'an earlier endpoint'}</bdi></td>
<td data-of="Outcome">${outcome}${reason !== 'none' && html` <span class="quiet">${reason}</span>`}${details !== null && html`<br><bdi>${details.text}</bdi>`}</td>
<td class="number" data-of="Status">${status ?? '–'}</td><td class="number" data-of="Total">${Math.round(phases.total / US_PER_MS)} ms</td>
<td data-of="Phases (ms)">${phasesText(phases)}</td></tr>`,
  )}</tbody></table></div>`
}

/** The phases that took time, such as `dns 3 · connect 11 · wait 90`. */
function phasesText(phases: ServiceResult['phases']): string {
  return PHASES.filter((phase) => phase !== 'total' && phases[phase] >= US_PER_MS / 2)
    .map((phase) => `${phase} ${Math.round(phases[phase] / US_PER_MS)}`)
    .join(' · ')
}
