import { type Html, html } from '../../../web/html.ts'
import { plainText } from '../../../web/plainText.ts'
import { dayText, durationText, instant } from '../../../web/times.ts'
import { SEVERITY_LABELS, STATUS_LABELS } from '../../domain/notifications/incidentLabels.ts'
import { listParts } from '../view/incidentTexts.ts'
import type { PublicIncident, PublicUpdate, PublicWindow } from '../view/publicPage.ts'
import { type PageContext, pathOf } from './frame.ts'

/** Maximum number of characters of an update on a page with several incidents. */
const EXCERPT_CHARS_MAX = 1_000

/** `A, B and C`, each name with its own writing direction. Pure. */
function namesOf(components: readonly string[]): Html {
  return html`${listParts(components).map(([before, name]) => html`${before}<bdi>${name}</bdi>`)}`
}

/** The path of the page of an incident. Pure. */
function incidentPath(context: PageContext, { displayId }: PublicIncident): string {
  return pathOf(context, `/incidents/${displayId}`)
}

/** An open incident with its latest updates, newest first. Pure. */
export function openIncident(context: PageContext, incident: PublicIncident): Html {
  const { title, displayId, severity, status, startedAt, components, earlierUpdates } = incident
  const isCut = earlierUpdates > 0 || incident.updates.some(({ body }) => body.length > EXCERPT_CHARS_MAX)
  return html`<article class="incident v-${severity}">
<h3><a href="${incidentPath(context, incident)}"><bdi>${title}</bdi></a></h3>
<p class="quiet">${SEVERITY_LABELS[severity]} · ${STATUS_LABELS[status]} · since ${instant(startedAt)} · ${displayId}</p>
<p class="quiet">Affects ${namesOf(components)}</p>
${updateList(incident.updates, EXCERPT_CHARS_MAX)}
${isCut && html`<p><a href="${incidentPath(context, incident)}">All updates<span class="unseen"> of ${displayId}</span></a></p>`}
</article>`
}

/** Updates as a timeline, newest first, each truncated to `charsMax` characters. Pure. */
export function updateList(updates: readonly PublicUpdate[], charsMax: number): Html {
  return html`<ol class="updates">${updates.toReversed().map(
    ({ at, status, body }) => html`<li class="u-${status}">
<p class="when"><strong>${STATUS_LABELS[status]}</strong> <span class="quiet">${instant(at)}</span></p>
${plainText(excerpt(body, charsMax))}</li>`,
  )}</ol>`
}

function excerpt(text: string, charsMax: number): string {
  const characters = [...text]
  return characters.length <= charsMax ? text : `${characters.slice(0, charsMax).join('').trimEnd()}…`
}

/** Past incidents and windows, grouped by the day on which they began, newest first. Pure. */
export function pastByDay(
  context: PageContext,
  incidents: readonly PublicIncident[],
  windows: readonly PublicWindow[] = [],
): Html {
  const entries = [
    ...incidents.map((incident) => ({ at: incident.startedAt, entry: pastIncident(context, incident) })),
    ...windows.map((window) => ({ at: window.startsAt, entry: pastWindow(window) })),
  ].sort((one, other) => (one.at < other.at ? 1 : -1))
  const days = new Map<string, Html[]>()
  for (const { at, entry } of entries) {
    const day = at.slice(0, 10)
    days.set(day, [...(days.get(day) ?? []), entry])
  }
  return html`${[...days].map(
    ([day, ofDay]) =>
      html`<section class="day"><h3>${dayText(day)} ${day.slice(0, 4)}</h3>${ofDay}</section>`,
  )}`
}

function pastIncident(context: PageContext, incident: PublicIncident): Html {
  const { title, displayId, severity, status, startedAt, resolvedAt, components } = incident
  const last = incident.updates.at(-1)
  const spanS = (Date.parse(resolvedAt ?? startedAt) - Date.parse(startedAt)) / 1_000
  const outcome = resolvedAt === null ? STATUS_LABELS[status] : `Resolved after ${durationText(spanS)}`
  return html`<article class="past">
<h4><a href="${incidentPath(context, incident)}"><bdi>${title}</bdi></a></h4>
<p class="quiet">${SEVERITY_LABELS[severity]} · ${outcome} · ${namesOf(components)} · ${displayId}</p>
${last !== undefined && plainText(excerpt(last.body, EXCERPT_CHARS_MAX))}
</article>`
}

function pastWindow({ title, startsAt, endsAt, components }: PublicWindow): Html {
  return html`<article class="past">
<h4><bdi>${title}</bdi></h4>
<p class="quiet">Maintenance · ${instant(startsAt)} to ${instant(endsAt)} · ${namesOf(components)}</p>
</article>`
}

/** A current or upcoming maintenance window. Pure. */
export function plannedWindow({ title, startsAt, endsAt, components }: PublicWindow, nowMs: number): Html {
  const word = Date.parse(startsAt) <= nowMs ? 'In progress' : 'Planned'
  return html`<article class="window">
<h3><bdi>${title}</bdi></h3>
<p class="quiet">${word} · ${instant(startsAt)} to ${instant(endsAt)}</p>
<p class="quiet">Affects ${namesOf(components)}</p>
</article>`
}
