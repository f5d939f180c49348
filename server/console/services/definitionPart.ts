import { type Html, html } from '../../../web/html.ts'
import { settingsOf } from '../../domain/autoIncidentSettings.ts'
import type { Faults } from '../forms/readForm.ts'
import { textField } from '../frame/fields.ts'
import type { OrgRequest } from '../routing/route.ts'
import { definitionText } from './definitionText.ts'
import type { ServiceRow } from './serviceRows.ts'

/** Default settings of automatic incidents. */
const THRESHOLD = 3
const WINDOW_MINUTES = 10

/** The definition of a service, a hint to export it, and for members its automatic incidents. */
export function definitionPart(request: OrgRequest, { service }: ServiceRow, faults: Faults): Html {
  const { id, interval_secs: intervalS, regions, endpoints } = service
  return html`${request.may('operate') && autoIncidents(request, service, faults)}
<section class="group" aria-labelledby="definition"><h2 id="definition">Definition</h2>
<dl class="facts"><div><dt>Interval</dt><dd>${intervalS} s</dd></div><div><dt>Regions</dt><dd>${regions.join(', ')}</dd></div><div><dt>Id</dt><dd><code>${id}</code></dd></div></dl>
<ul>${endpoints.map(({ url, name, call, assertions, blocked }) => html`<li>${name != null && html`<bdi>${name}</bdi>: `}${call.Http.method} <bdi>${url}</bdi>, ${assertions.length} ${assertions.length === 1 ? 'assertion' : 'assertions'}${blocked && html` <strong>(not checked: forbidden address)</strong>`}</li>`)}</ul>
<details><summary>As JSON</summary><pre>${definitionText(service)}</pre></details>
<p>To manage the services of this organisation as code, export them: <code>pharos export --write monitoring</code></p></section>`
}

function autoIncidents({ actions, form }: OrgRequest, service: ServiceRow['service'], faults: Faults): Html {
  const settings = settingsOf(service)
  const threshold = form.get('threshold') ?? String(settings?.threshold ?? THRESHOLD)
  const window = form.get('window') ?? String(settings?.windowMinutes ?? WINDOW_MINUTES)
  return html`<section class="group" aria-labelledby="automatic"><h2 id="automatic">Automatic incidents</h2>
<p>${settings === null ? 'Off' : `On: after ${settings.threshold} failing rounds of one endpoint within ${settings.windowMinutes} minutes`}</p>
<form method="post" action="${actions}/services/${service.id}/auto-incident">
<div class="filters">${textField({ name: 'threshold', label: 'Failing rounds', type: 'number', value: threshold, fault: faults.threshold })}
${textField({ name: 'window', label: 'Within (minutes)', type: 'number', value: window, fault: faults.window })}
<p class="field row"><button name="on" value="yes">${settings === null ? 'Switch on' : 'Save'}</button>${settings !== null && html`<button name="on" value="no" formnovalidate>Switch off</button>`}</p></div></form></section>`
}
