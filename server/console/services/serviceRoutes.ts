import { ApiError } from '../../../api/contract/apiError.ts'
import { settingsProblem, settingsRefusal } from '../../domain/autoIncidentSettings.ts'
import { originOfPerson } from '../../domain/changeOrigin.ts'
import {
  createService,
  deleteService,
  pauseService,
  replaceService,
  resumeService,
  type Service,
  type ServiceChange,
  setAutoIncidents,
} from '../../domain/serviceChanges.ts'
import { serviceDeps } from '../../http/operations/serviceDeps.ts'
import type { ServiceFacts } from '../../store/store.ts'
import { messagePage } from '../routing/messagePages.ts'
import { orgAction, orgPage, type OrgRequest, type Route, type RouteResponse } from '../routing/route.ts'
import { CONFIRMED, isManaged, managementOfService } from './actionForms.ts'
import { readDefinition } from './definitionText.ts'
import { live } from './live.ts'
import { type EditFault, editServicePage, newServicePage, shortDefinition } from './serviceForms.ts'
import { servicePage } from './servicePage.ts'
import { servicesPage } from './servicesPage.ts'

/** Largest definition (bytes). */
const DEFINITION_BYTES_MAX = 1_024 * 1_024

/** Services: list, page, forms and actions. */
export const serviceRoutes: readonly Route[] = [
  orgPage('services', 'read', servicesPage),
  orgPage('services/new', 'operate', async (request) => newServicePage(request)),
  orgPage('services/:id', 'read', (request) => servicePage(request)),
  orgPage(
    'services/:id/edit',
    'operate',
    async (request) => (await editServicePage(request)) ?? { kind: 'not found' },
  ),
  orgPage('live', 'read', live),
  orgAction('services', { access: 'operate', formBytesMax: DEFINITION_BYTES_MAX }, create),
  orgAction('services/:id/replace', { access: 'operate', formBytesMax: DEFINITION_BYTES_MAX }, replace),
  action('pause', 'Paused.', (service, _facts, { nowMs }) => pauseService(service, nowMs)),
  action('resume', 'Resumed. Checks start at once.', (service, { quota }) => resumeService(service, quota)),
  action('delete', 'Deleted.', (service) => deleteService(service)),
  orgAction('services/:id/auto-incident', 'operate', changeAutoIncidents),
]

type Decide = (service: Service, facts: ServiceFacts, request: OrgRequest) => ServiceChange | null

/** An action that consists of a decision. */
function action(name: string, flash: string, decide: Decide): Route {
  return orgAction(`services/:id/${name}`, 'operate', async (request) => {
    const { root, params } = request
    const refusal = await unconfirmedText(request)
    if (refusal !== undefined) return messagePage(422, 'Not changed', refusal)
    const changed = await change(request, (service, facts) => decide(service, facts, request))
    if (changed === undefined) return { kind: 'not found' }
    return { kind: 'redirect', to: `${root}/services${name === 'delete' ? '' : `/${params.id}`}`, flash }
  })
}

/** Automatic incidents need no confirmation: the tools that manage services do not change them. */
async function changeAutoIncidents(request: OrgRequest): Promise<RouteResponse> {
  const { form, root, params } = request
  const typed = { threshold: Number(form.get('threshold')), windowMinutes: Number(form.get('window')) }
  const settings = form.get('on') === 'no' ? null : typed
  let problem = settings === null ? undefined : settingsProblem(settings)
  const changed = await change(request, (service) => {
    if (settings !== null) problem ??= settingsRefusal(settings, service.response)
    return problem === undefined ? setAutoIncidents(service, settings) : null
  })
  if (changed === undefined) return { kind: 'not found' }
  if (problem !== undefined) {
    return servicePage(request, { [problem.startsWith('the threshold') ? 'threshold' : 'window']: problem })
  }
  const flash = 'Automatic incidents saved.'
  return { kind: 'redirect', to: `${root}/services/${params.id}`, flash }
}

/** Why an unconfirmed change of a service that code manages is refused; otherwise `undefined`. */
async function unconfirmedText(request: OrgRequest): Promise<string | undefined> {
  const management = await managementOfService(request, request.params.id ?? '')
  if (!isManaged(management) || request.form.get(CONFIRMED) === 'yes') return undefined
  return `${management.manager} manages this service, and its next run may revert changes made here. Tick the box to change it anyway.`
}

function change(
  { store, org, params, person, nowMs }: OrgRequest,
  decide: (service: Service, facts: ServiceFacts) => ServiceChange | null,
) {
  const origin = originOfPerson(person.id, nowMs)
  return store.changeService(org.id, params.id ?? '', (service, facts) => {
    const decided = decide(service, facts)
    return decided === null ? null : { ...decided, origin }
  })
}

async function create(request: OrgRequest): Promise<RouteResponse> {
  const { store, org, form, person, nowMs, root } = request
  try {
    const definition = await readDefinition(request, form.get('definition') ?? shortDefinition(form))
    const { text } = await store.createService(org.id, undefined, (facts) => ({
      ...createService(definition, serviceDeps(facts, request)),
      origin: originOfPerson(person.id, nowMs),
    }))
    // True because only rendered ServiceResponses are stored.
    const { id } = JSON.parse(text) as { readonly id: string }
    const flash = 'Service created. Its first check starts within two seconds.'
    return { kind: 'redirect', to: `${root}/services/${id}`, flash }
  } catch (error) {
    return newServicePage(request, refusalOf(error))
  }
}

async function replace(request: OrgRequest): Promise<RouteResponse> {
  const { store, org, params, form, root } = request
  const id = params.id ?? ''
  const again = async (fault: EditFault): Promise<RouteResponse> =>
    (await editServicePage(request, fault)) ?? { kind: 'not found' }
  const found = await store.getService(org.id, id)
  if (found === undefined) return { kind: 'not found' }
  const refusal = await unconfirmedText(request)
  if (refusal !== undefined) return again({ kind: 'invalid', message: refusal })
  let hasChanged = false
  try {
    const definition = await readDefinition(request, form.get('definition') ?? '', JSON.parse(found.text))
    await change(request, (service, facts) => {
      hasChanged = String(service.generation) !== form.get('generation')
      return hasChanged ? null : replaceService(service, definition, serviceDeps(facts, request))
    })
  } catch (error) {
    return again({ kind: 'invalid', message: refusalOf(error) })
  }
  if (hasChanged) return again({ kind: 'changed' })
  return { kind: 'redirect', to: `${root}/services/${id}`, flash: 'Definition replaced.' }
}

/** Why a definition was refused; rethrows other errors. */
function refusalOf(error: unknown): string {
  if (error instanceof ApiError && (error.code === 'invalid' || error.code === 'forbidden'))
    return error.message
  throw error
}
