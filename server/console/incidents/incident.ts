import {
  type Incident,
  type IncidentUpdate,
  incidentUpdateRequestSchema,
} from '../../../api/contract/incident.ts'
import { INCIDENT_STATUSES, SEVERITIES } from '../../../api/contract/incidentTerms.ts'
import { type Html, html } from '../../../web/html.ts'
import { nameList } from '../../../web/nameList.ts'
import { plainText } from '../../../web/plainText.ts'
import { icon } from '../../../web/stateShapes.ts'
import { instant } from '../../../web/times.ts'
import { updateIncident } from '../../domain/incidentChanges.ts'
import { SEVERITY_LABELS, STATUS_LABELS } from '../../domain/notifications/incidentLabels.ts'
import type { IncidentAuthor } from '../../store/store.ts'
import { type Faults, formText, readForm, refusalOf } from '../forms/readForm.ts'
import { serviceLinks, servicesOf } from '../forms/services.ts'
import { versionSeen } from '../forms/version.ts'
import { ALERT, problemNotice, selectField, textArea } from '../frame/fields.ts'
import type { RouteResponse, OrgRequest } from '../routing/route.ts'
import { type Audience, audienceOf } from './audience.ts'
import { durationOf } from './list.ts'
import { SEVERITY_STATES } from './severityStates.ts'

const STATUS_OPTIONS = INCIDENT_STATUSES.map((one) => [one, STATUS_LABELS[one]] as const)
const SEVERITY_OPTIONS = SEVERITIES.map((one) => [one, SEVERITY_LABELS[one]] as const)

/** Why an update was not posted. */
interface Refusal {
  readonly faults: Faults
  /** Whether another update was posted meanwhile. */
  readonly isOutdated?: boolean
  /** Whether the update would resolve the incident, which needs confirmation. */
  readonly isResolving?: boolean
}

/** GET /o/:org/incidents/:id. */
export async function incidentPage(request: OrgRequest, refusal?: Refusal): Promise<RouteResponse> {
  const { store, org, params, root, may, nowMs } = request
  const incident = await store.getIncident(org.id, params.id ?? '')
  if (incident === undefined) return { kind: 'not found' }
  const services = await servicesOf(store, org.id, incident.service_ids)
  const audience = await audienceOf(store, org.id, incident)
  const authors = await store.incidentAuthors(incident.id)
  const { display_id, title, severity, status } = incident
  const updates = incident.updates.toReversed()
  const body = html`<h1>${display_id} <bdi>${title}</bdi></h1>
<dl class="facts group">
<div><dt>Severity</dt><dd>${icon(SEVERITY_STATES[severity])} ${SEVERITY_LABELS[severity]}</dd></div>
<div><dt>Status</dt><dd>${STATUS_LABELS[status]}</dd></div>
<div><dt>Since</dt><dd>${instant(incident.created_at)}</dd></div>
<div><dt>Duration</dt><dd>${durationOf(incident, nowMs)}</dd></div>
<div><dt>Opened</dt><dd>${incident.auto_managed ? 'automatically' : 'manually or by API'}</dd></div>
<div><dt>Services</dt><dd>${serviceLinks(services, root)}</dd></div></dl>
${shownOn(audience, incident, request)}
${may('operate') && status !== 'resolved' && updateForm(request, incident, { audience, refusal })}
${refusal !== undefined && status === 'resolved' && unpostedUpdate(request)}
<section class="group" aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>
<ol class="plain-list" reversed>${updates.map((update) => timelineEntry(update, authors))}</ol></section>`
  const response = { kind: 'page', title: `${display_id} ${title}`, section: 'incidents', body } as const
  if (refusal === undefined) return response
  return { ...response, status: refusal.isOutdated === true ? 409 : 422 }
}

function timelineEntry(update: IncidentUpdate, authors: ReadonlyMap<string, IncidentAuthor>): Html {
  const author = authors.get(update.id)
  return html`<li><p><strong>${STATUS_LABELS[update.status_at_update]}</strong> <span class="quiet">${instant(update.created_at)}${
    author !== undefined && html` by <bdi>${authorText(author)}</bdi>`
  }</span></p>${plainText(update.body)}</li>`
}

function authorText({ kind, name }: IncidentAuthor): string {
  if (kind === 'key') return name === null ? 'a deleted API key' : `API key …${name}`
  return name ?? 'a former member'
}

function shownOn({ pages }: Audience, incident: Incident, { actions, root, may }: OrgRequest): Html {
  return html`<section class="group" aria-labelledby="shown"><h2 id="shown">Shown on</h2>
${
  pages.length === 0
    ? html`<p>No public status page.</p>`
    : html`<ul>${pages.map(
        ({
          page,
          names,
          isHidden,
        }) => html`<li><div class="row"><span><a href="${root}/pages/${page.id}"><bdi>${page.title}</bdi></a>
as ${nameList(names)}${isHidden && ' (hidden)'}</span>
${
  may('operate') &&
  html`<form method="post" action="${actions}/pages/${page.id}/${isHidden ? 'show' : 'hide'}-incident"><input type="hidden" name="incident" value="${incident.id}"><button>${isHidden ? 'Show' : 'Hide'} there<span class="unseen">: ${page.title}</span></button></form>`
}</div></li>`,
      )}</ul>`
}</section>`
}

function updateForm(
  { form, actions }: OrgRequest,
  { id, status, severity, updates }: Incident,
  { audience, refusal }: { readonly audience: Audience; readonly refusal: Refusal | undefined },
): Html {
  const faults = refusal?.faults ?? {}
  const shownPages = audience.pages.filter(({ isHidden }) => !isHidden)
  return html`<section class="group" aria-labelledby="post"><h2 id="post">Post an update</h2>
${refusal?.isOutdated === true && html`<p class="notice bad"${ALERT}>Another update was posted while you were writing. It is in the timeline below. Check your text and post it again.</p>`}
${refusal?.isResolving === true && html`<p class="notice"${ALERT}>A resolved incident takes no further updates. Post again to resolve it.</p>`}
${problemNotice(faults[''])}
<form method="post" action="${actions}/incidents/${id}/updates">
<input type="hidden" name="seen" value="${versionSeen(form, 'seen', { current: String(updates.length), isOutdated: refusal?.isOutdated === true })}">${refusal?.isResolving === true && html`<input type="hidden" name="resolve" value="yes">`}
<div class="filters">${selectField({ name: 'status', label: 'Status', value: form.get('status') ?? status, options: STATUS_OPTIONS, fault: faults.status })}
${selectField({ name: 'severity', label: 'Severity', value: form.get('severity') ?? severity, options: SEVERITY_OPTIONS, fault: faults.severity })}</div>
${textArea({ name: 'body', label: 'Text', value: form.get('body') ?? '', fault: faults.body })}
<p class="hint">Sent to ${listed(
    audience.channels.map(({ name }) => name),
    'no channel',
  )}; shown on ${listed(
    shownPages.map(({ page }) => page.title),
    'no public page',
  )}.</p>
<button class="main">Post update</button></form></section>`
}

/** The text of an update that came too late, so that it is not lost. */
function unpostedUpdate({ form }: OrgRequest): Html {
  return html`<section class="group" aria-labelledby="unposted"><h2 id="unposted">Your update was not posted</h2>
<p class="notice bad"${ALERT}>The incident was resolved while you were writing. A resolved incident takes no further updates. This is your text:</p>
${plainText(formText(form, 'body'))}</section>`
}

function listed(names: readonly string[], none: string): Html {
  return names.length === 0 ? html`${none}` : nameList(names)
}

/** Thrown when another update was posted after the form was opened. */
class OutdatedError extends Error {}

/** POST /api/o/:org/incidents/:id/updates. */
export async function postUpdate(request: OrgRequest): Promise<RouteResponse> {
  const { store, org, params, form, environment, by, root } = request
  const id = params.id ?? ''
  const read = readForm(incidentUpdateRequestSchema, {
    body: formText(form, 'body'),
    status: form.get('status'),
    severity: form.get('severity') ?? undefined,
  })
  if ('faults' in read) return incidentPage(request, { faults: read.faults })
  if (read.value.status === 'resolved' && form.get('resolve') !== 'yes') {
    return incidentPage(request, { faults: {}, isResolving: true })
  }
  try {
    let changed: Incident | undefined
    const refusal = await refusalOf(['body'], async () => {
      const decide: Parameters<typeof store.changeIncident>[3] = (incident, quota) => {
        if (form.get('seen') !== String(incident.updates.length)) throw new OutdatedError()
        return updateIncident(incident, read.value, { environment, quota })
      }
      changed = await store.changeIncident(org.id, id, by, decide)
    })
    if (refusal !== undefined) return incidentPage(request, { faults: refusal })
    if (changed === undefined) return { kind: 'not found' }
  } catch (error) {
    if (error instanceof OutdatedError) return incidentPage(request, { faults: {}, isOutdated: true })
    throw error
  }
  return { kind: 'redirect', to: `${root}/incidents/${id}`, flash: 'Update posted.' }
}
