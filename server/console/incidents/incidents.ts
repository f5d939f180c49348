import {
  LONG_FORM_BYTES_MAX,
  orgAction,
  orgPage,
  type OrgRequest,
  type Route,
  type RouteResponse,
} from '../routing/route.ts'
import { createIncident, newIncidentPage } from './create.ts'
import { incidentPage, postUpdate } from './incident.ts'
import { listIncidents } from './list.ts'

/** Incidents: list, one with its timeline, opening one and posting updates. */
export const incidentRoutes: readonly Route[] = [
  orgPage('incidents', 'read', listIncidents),
  orgPage('incidents/new', 'operate', (request) => newIncidentPage(request)),
  orgPage('incidents/:id', 'read', (request) => incidentPage(request)),
  orgAction('incidents', { access: 'operate', formBytesMax: LONG_FORM_BYTES_MAX }, createIncident),
  orgAction('incidents/:id/updates', { access: 'operate', formBytesMax: LONG_FORM_BYTES_MAX }, postUpdate),
  orgAction('pages/:id/hide-incident', 'operate', (request) => setVisibility(request, 'hide')),
  orgAction('pages/:id/show-incident', 'operate', (request) => setVisibility(request, 'show')),
]

/** Hides or shows an incident on a status page. */
async function setVisibility(request: OrgRequest, how: 'hide' | 'show'): Promise<RouteResponse> {
  const { store, org, params, form, root, by } = request
  const page = await store.getStatusPage(params.id ?? '')
  const incident = await store.getIncident(org.id, form.get('incident') ?? '')
  if (page.orgId !== org.id || incident === undefined) return { kind: 'not found' }
  await store.changeStatusPage(page.id, { [how]: [incident.display_id] }, { by })
  const flash = how === 'hide' ? 'Incident hidden on the page.' : 'Incident shown on the page.'
  return { kind: 'redirect', to: `${root}/incidents/${incident.id}`, flash }
}
