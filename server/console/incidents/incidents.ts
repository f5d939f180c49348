import { LONG_FORM_BYTES_MAX, type RouteResponse, type OrgRequest, type Route } from '../routing/route.ts'
import { createIncident, newIncidentPage } from './create.ts'
import { incidentPage, postUpdate } from './incident.ts'
import { listIncidents } from './list.ts'

/** Incidents: list, one with its timeline, opening one and posting updates. */
export const incidentRoutes: readonly Route[] = [
  { method: 'GET', path: '/o/:org/incidents', access: 'read', handle: listIncidents },
  {
    method: 'GET',
    path: '/o/:org/incidents/new',
    access: 'operate',
    handle: (request) => newIncidentPage(request),
  },
  {
    method: 'GET',
    path: '/o/:org/incidents/:id',
    access: 'read',
    handle: (request) => incidentPage(request),
  },
  {
    ...{ method: 'POST', path: '/api/o/:org/incidents', access: 'operate', handle: createIncident },
    formBytesMax: LONG_FORM_BYTES_MAX,
  },
  {
    ...{ method: 'POST', path: '/api/o/:org/incidents/:id/updates', access: 'operate', handle: postUpdate },
    formBytesMax: LONG_FORM_BYTES_MAX,
  },
  {
    method: 'POST',
    path: '/api/o/:org/pages/:id/hide-incident',
    access: 'operate',
    handle: (request) => setVisibility(request, 'hide'),
  },
  {
    method: 'POST',
    path: '/api/o/:org/pages/:id/show-incident',
    access: 'operate',
    handle: (request) => setVisibility(request, 'show'),
  },
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
