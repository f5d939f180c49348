import { incidentRequestSchema } from '../../../api/contract/incident.ts'
import { SEVERITIES } from '../../../api/contract/incidentTerms.ts'
import { html } from '../../../web/html.ts'
import { nameList } from '../../../web/nameList.ts'
import { distinctServiceIds, openIncident } from '../../domain/incidentChanges.ts'
import { SEVERITY_LABELS } from '../../domain/notifications/incidentLabels.ts'
import { type Faults, formText, readForm, refusalOf } from '../forms/readForm.ts'
import { namedServices, servicesField } from '../forms/services.ts'
import { problemNotice, selectField, textArea, textField } from '../frame/fields.ts'
import type { RouteResponse, OrgRequest, Page } from '../routing/route.ts'

const SEVERITY_OPTIONS = SEVERITIES.map((one) => [one, SEVERITY_LABELS[one]] as const)
const FIELDS = ['title', 'service_ids', 'message', 'severity']

/** GET /o/:org/incidents/new. `?service=` preselects a service. */
export async function newIncidentPage(request: OrgRequest, faults: Faults = {}): Promise<Page> {
  const { store, org, form, query, actions } = request
  const services = await namedServices(request)
  const channels = (await store.listChannels(org.id)).filter(
    ({ state, events }) => state === 'active' && events.includes('incident.created'),
  )
  const pages = (await store.listStatusPages(org.id)).filter(
    ({ isPublic, incidentsShown }) => isPublic && incidentsShown !== 'none',
  )
  const body = html`<h1>New incident</h1>
${problemNotice(faults[''])}
<form class="group" method="post" action="${actions}/incidents">
${textField({ name: 'title', label: 'Title', value: form.get('title') ?? '', fault: faults.title })}
${servicesField({
  ...{ name: 'service_ids', label: 'Services', services },
  chosen: [...form.getAll('service_ids'), ...query.getAll('service')],
  fault: faults.service_ids,
})}
${selectField({
  ...{ name: 'severity', label: 'Severity', value: form.get('severity') ?? 'partial_outage' },
  ...{ options: SEVERITY_OPTIONS, fault: faults.severity },
})}
${textArea({ name: 'message', label: 'First update', value: form.get('message') ?? '', fault: faults.message })}
<p class="hint">Readers: channels and status pages of the chosen services. Active channels: ${
    channels.length === 0 ? 'none' : nameList(channels.map(({ name }) => name))
  }. Public pages: ${pages.length === 0 ? 'none' : nameList(pages.map(({ title }) => title))}.</p>
<button class="main">Open incident</button></form>`
  const status = Object.keys(faults).length === 0 ? 200 : 422
  return { kind: 'page', title: 'New incident', section: 'incidents', body, status }
}

/** POST /api/o/:org/incidents. */
export async function createIncident(request: OrgRequest): Promise<RouteResponse> {
  const { store, org, form, environment, by, root } = request
  const read = readForm(incidentRequestSchema, {
    title: formText(form, 'title'),
    message: formText(form, 'message'),
    severity: form.get('severity'),
    service_ids: form.getAll('service_ids'),
  })
  if ('faults' in read) return newIncidentPage(request, read.faults)
  const { value } = read
  const wanted = distinctServiceIds(value.service_ids)
  let id = ''
  const refusal = await refusalOf(FIELDS, async () => {
    const decide = (facts: Parameters<typeof openIncident>[1]) => openIncident(value, facts, environment)
    id = (await store.createIncident(org.id, { by, wantedServiceIds: wanted }, decide)).id
  })
  if (refusal !== undefined) return newIncidentPage(request, refusal)
  return { kind: 'redirect', to: `${root}/incidents/${id}`, flash: 'Incident opened.' }
}
