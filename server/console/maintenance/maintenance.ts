import { ApiError } from '../../../api/contract/apiError.ts'
import { INCIDENT_SERVICES_MAX, TITLE_CHARS_MAX } from '../../../api/contract/incident.ts'
import { readableTextProblem } from '../../../api/contract/text.ts'
import { type Html, html } from '../../../web/html.ts'
import { nameList } from '../../../web/nameList.ts'
import { instant } from '../../../web/times.ts'
import { timestamp } from '../../domain/environment.ts'
import type { MaintenanceWindow } from '../../store/store.ts'
import { type Faults, formText, refusalOf } from '../forms/readForm.ts'
import { type NamedService, namedServices, servicesField } from '../forms/services.ts'
import { versionOfText, versionSeen } from '../forms/version.ts'
import { ALERT, asking, problemNotice, textField } from '../frame/fields.ts'
import {
  LONG_FORM_BYTES_MAX,
  orgAction,
  orgPage,
  type OrgRequest,
  type Page,
  type Route,
  type RouteResponse,
} from '../routing/route.ts'

/** Maintenance windows. Gap G6. */
export const maintenanceRoutes: readonly Route[] = [
  orgPage('maintenance', 'read', list),
  orgPage('maintenance/new', 'operate', (request) => edit(request, undefined)),
  orgPage('maintenance/:id', 'operate', editOne),
  orgAction('maintenance', { access: 'operate', formBytesMax: LONG_FORM_BYTES_MAX }, (request) =>
    save(request, undefined),
  ),
  orgAction('maintenance/:id/change', { access: 'operate', formBytesMax: LONG_FORM_BYTES_MAX }, change),
  orgAction('maintenance/:id/end', 'operate', end),
  orgAction('maintenance/:id/cancel', 'operate', cancel),
]

/** Maximum number of ended windows shown. */
const PAST_SHOWN = 100

type Phase = 'in progress' | 'upcoming' | 'past'
const PHASES = [
  ['in progress', 'In progress'],
  ['upcoming', 'Upcoming'],
  ['past', 'Past'],
] as const satisfies readonly (readonly [Phase, string])[]

function phaseOf({ startsAt, endsAt }: MaintenanceWindow, now: string): Phase {
  if (endsAt <= now) return 'past'
  return startsAt <= now ? 'in progress' : 'upcoming'
}

async function list(request: OrgRequest): Promise<RouteResponse> {
  const { store, org, root, actions, may, nowMs } = request
  const now = timestamp(nowMs)
  const windows = await shownWindows(store, org.id, now)
  const names = new Map((await namedServices(request)).map(({ id, name }) => [id, name]))
  const sections = PHASES.map(([phase, heading]) => {
    const of = windows.filter((window) => phaseOf(window, now) === phase)
    const shown = phase === 'past' ? of.reverse() : of
    return html`<section class="group" aria-labelledby="p-${phase.replace(' ', '-')}"><h2 id="p-${phase.replace(' ', '-')}">${heading}</h2>
${
  shown.length === 0
    ? html`<p>None.</p>`
    : html`<div class="scroll" tabindex="0"><table class="stack"><thead><tr><th scope="col">Title</th><th scope="col">Services</th><th scope="col">From</th><th scope="col">To</th>${may('operate') && phase !== 'past' && html`<th scope="col">Action</th>`}</tr></thead>
<tbody>${shown.map((window) => windowRow(window, { phase, names, root, actions: may('operate') ? actions : undefined }))}</tbody></table></div>`
}
${phase === 'past' && shown.length === PAST_SHOWN && html`<p class="quiet">The newest ${PAST_SHOWN}.</p>`}</section>`
  })
  const body = html`<h1>Maintenance ${may('operate') && html`<a class="button main" href="${root}/maintenance/new">New window</a>`}</h1>
<p>During a maintenance window, no automatic incidents are opened for its services, and its time does not count as downtime.</p>
${sections}`
  return { kind: 'page', title: 'Maintenance', section: 'maintenance', body }
}

interface RowContext {
  readonly phase: Phase
  readonly names: ReadonlyMap<string, string>
  readonly root: string
  /** `undefined` without the permission to change windows. */
  readonly actions: string | undefined
}

function windowRow(window: MaintenanceWindow, { phase, names, root, actions }: RowContext): Html {
  const { id, title, serviceIds, startsAt, endsAt } = window
  const verb = phase === 'in progress' ? 'end' : 'cancel'
  const word = phase === 'in progress' ? 'End now' : 'Cancel'
  return html`<tr><th scope="row"><bdi>${title}</bdi></th>
<td data-of="Services">${nameList(serviceIds.map((one) => names.get(one) ?? 'a deleted service'))}</td>
<td data-of="From">${instant(startsAt)}</td><td data-of="To">${instant(endsAt)}</td>
${
  actions !== undefined &&
  phase !== 'past' &&
  html`<td data-of="Action"><div class="row"><a class="button" href="${root}/maintenance/${id}">Change<span class="unseen"> ${title}</span></a>
<form method="post" action="${actions}/maintenance/${id}/${verb}"><button${asking(`${word}: ${title}?`)}>${word}<span class="unseen">: ${title}</span></button></form></div></td>`
}</tr>`
}

/** All windows that have not ended, and the last ended ones. */
async function shownWindows(
  store: OrgRequest['store'],
  orgId: string,
  now: string,
): Promise<readonly MaintenanceWindow[]> {
  const open = await store.listMaintenance(orgId, { endsAfter: now })
  const ended = await store.listMaintenance(orgId, { endedBy: now, countMax: PAST_SHOWN })
  return [...open, ...ended]
}

async function windowOf({ store, org, params, nowMs }: OrgRequest): Promise<MaintenanceWindow | undefined> {
  return (await shownWindows(store, org.id, timestamp(nowMs))).find(({ id }) => id === params.id)
}

async function editOne(request: OrgRequest): Promise<RouteResponse> {
  const window = await windowOf(request)
  return window === undefined ? { kind: 'not found' } : edit(request, window)
}

function versionOf({ title, startsAt, endsAt, serviceIds }: MaintenanceWindow): string {
  return versionOfText(JSON.stringify([title, startsAt, endsAt, serviceIds.toSorted()]))
}

async function edit(
  request: OrgRequest,
  window: MaintenanceWindow | undefined,
  refused: Faults | 'outdated' = {},
): Promise<Page> {
  const { form, actions, root } = request
  const isOutdated = refused === 'outdated'
  const faults = isOutdated ? {} : refused
  const services = await namedServices(request)
  const isTyped = form.has('title')
  const value = (name: string, stored: string | undefined) => form.get(name) ?? stored ?? ''
  const title = window === undefined ? 'New maintenance window' : 'Change maintenance window'
  const action = window === undefined ? '' : `/${window.id}/change`
  const body = html`<h1>${title}</h1>
${problemNotice(faults[''])}
${isOutdated && window !== undefined && outdatedNotice(window, services)}
<form class="group" method="post" action="${actions}/maintenance${action}">
${window !== undefined && html`<input type="hidden" name="seen" value="${versionSeen(form, 'seen', { current: versionOf(window), isOutdated })}">`}
${textField({
  ...{ name: 'title', label: 'Title', value: value('title', window?.title), fault: faults.title },
  hint: 'Public: status pages with one of the services show it.',
})}
${servicesField({
  ...{ name: 'services', label: 'Services', services, fault: faults.services },
  chosen: isTyped ? form.getAll('services') : (window?.serviceIds ?? []),
})}
${textField({
  ...{ name: 'from', label: 'From (UTC)', type: 'datetime-local', fault: faults.from },
  value: value('from', minuteOf(window?.startsAt)),
})}
${textField({
  ...{ name: 'to', label: 'To (UTC)', type: 'datetime-local', fault: faults.to },
  value: value('to', minuteOf(window?.endsAt)),
})}
<button class="main">Save</button> <a class="button" href="${root}/maintenance">Back</a></form>`
  const status = isOutdated ? 409 : Object.keys(faults).length === 0 ? 200 : 422
  return { kind: 'page', title, section: 'maintenance', body, status }
}

function outdatedNotice(
  { title, startsAt, endsAt, serviceIds }: MaintenanceWindow,
  services: readonly NamedService[],
): Html {
  const names = services.filter(({ id }) => serviceIds.includes(id)).map(({ name }) => name)
  return html`<div class="notice bad"${ALERT}><p>The window has changed since you opened it. Your version is below. Saving it again replaces this one:</p>
<p><bdi>${title}</bdi>, ${instant(startsAt)} to ${instant(endsAt)}, ${nameList(names)}</p></div>`
}

/** Date and time of a stored instant, as the form shows them: without seconds. */
function minuteOf(iso: string | undefined): string | undefined {
  return iso?.slice(0, 16)
}

/**
 * The instant of a date and time in UTC: `stored` with its seconds if the form left it unchanged; `undefined` for other
 * text.
 */
function instantOf(text: string, stored: string | undefined): string | undefined {
  if (text === minuteOf(stored)) return stored
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text)) return undefined
  const ms = Date.parse(`${text}Z`)
  // Date accepts days that a month does not have, as days of the next month.
  return Number.isNaN(ms) || !timestamp(ms).startsWith(text) ? undefined : timestamp(ms)
}

async function save(request: OrgRequest, window: MaintenanceWindow | undefined): Promise<RouteResponse> {
  const { store, org, form, by, nowMs, root, environment } = request
  const title = formText(form, 'title')
  const startsAt = instantOf(form.get('from') ?? '', window?.startsAt)
  const endsAt = instantOf(form.get('to') ?? '', window?.endsAt)
  const serviceIds = [...new Set(form.getAll('services'))]
  const own = new Set((await namedServices(request)).map(({ id }) => id))
  const areServices = serviceIds.length > 0 && serviceIds.every((id) => own.has(id))
  const titleProblem = readableTextProblem(title, { charsMax: TITLE_CHARS_MAX, lines: 'one line' })
  const faults: Faults = {
    ...(titleProblem === undefined ? {} : { title: `The title ${titleProblem}` }),
    ...(areServices && serviceIds.length <= INCIDENT_SERVICES_MAX
      ? {}
      : { services: `Choose 1 to ${INCIDENT_SERVICES_MAX} services` }),
    ...(startsAt === undefined ? { from: 'Give a date and a time' } : {}),
    ...(endsAt === undefined ? { to: 'Give a date and a time' } : {}),
    ...(startsAt !== undefined && endsAt !== undefined && endsAt <= startsAt
      ? { to: 'The end must be after the start' }
      : {}),
  }
  if (Object.keys(faults).length > 0 || startsAt === undefined || endsAt === undefined) {
    return edit(request, window, faults)
  }
  if (window !== undefined && form.get('seen') !== versionOf(window)) {
    return edit(request, window, 'outdated')
  }
  const id = window?.id ?? environment.uuid()
  const wanted = { id, orgId: org.id, title, startsAt, endsAt, serviceIds }
  try {
    const refusal = await refusalOf([], () =>
      window === undefined
        ? store.createMaintenance(wanted, by, nowMs)
        : store.changeMaintenance(wanted, by, nowMs, window),
    )
    if (refusal !== undefined) return edit(request, window, refusal)
  } catch (error) {
    // Changed by another request meanwhile.
    if (!(error instanceof ApiError) || error.code !== 'conflict') throw error
    return edit(request, await windowOf(request), 'outdated')
  }
  return { kind: 'redirect', to: `${root}/maintenance`, flash: 'Maintenance window saved.' }
}

async function change(request: OrgRequest): Promise<RouteResponse> {
  const window = await windowOf(request)
  return window === undefined ? { kind: 'not found' } : save(request, window)
}

async function end(request: OrgRequest): Promise<RouteResponse> {
  const window = await windowOf(request)
  if (window === undefined) return { kind: 'not found' }
  const { store, by, nowMs, root } = request
  const endsAt = timestamp(nowMs)
  if (window.startsAt > endsAt) throw new ApiError('invalid', 'the window has not begun: cancel it instead')
  // Also without a change when it began in this millisecond, or has ended meanwhile.
  if (window.startsAt < endsAt && endsAt < window.endsAt) {
    await store.changeMaintenance({ ...window, endsAt }, by, nowMs, window)
  }
  return { kind: 'redirect', to: `${root}/maintenance`, flash: 'Maintenance ended.' }
}

async function cancel({ store, org, params, by, nowMs, root }: OrgRequest): Promise<RouteResponse> {
  await store.cancelMaintenance({ id: params.id ?? '', orgId: org.id }, by, nowMs)
  return { kind: 'redirect', to: `${root}/maintenance`, flash: 'Maintenance window cancelled.' }
}
