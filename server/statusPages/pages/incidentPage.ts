import { html } from '../../../web/html.ts'
import { durationText, instant } from '../../../web/times.ts'
import { SEVERITY_LABELS, STATUS_LABELS } from '../../domain/notifications/incidentLabels.ts'
import { listed } from '../view/incidentTexts.ts'
import type { PublicIncident } from '../view/publicPage.ts'
import { framed, type PageContext } from './frame.ts'
import { updateList } from './incidents.ts'

/** The page of an incident with all updates. Pure. */
export function incidentPage(context: PageContext, incident: PublicIncident): string {
  const { displayId, title, status, severity, startedAt, resolvedAt, components, updates } = incident
  const ended = html` · resolved ${instant(resolvedAt ?? startedAt)} after ${durationText((Date.parse(resolvedAt ?? startedAt) - Date.parse(startedAt)) / 1_000)}`
  return framed({
    ...context,
    title: `${displayId} ${title} – ${context.siteTitle}`,
    content: html`<section class="group lead v-${severity}">
<p class="quiet">${displayId} · ${SEVERITY_LABELS[severity]}</p>
<h1><bdi>${title}</bdi></h1>
<p><strong>${STATUS_LABELS[status]}</strong> <span class="quiet">· began ${instant(startedAt)}${resolvedAt !== null && ended}</span></p>
<p class="quiet">Affects <bdi>${listed(components)}</bdi></p>
</section>
<section class="group" aria-labelledby="updates"><h2 id="updates">Updates</h2>
${updateList(updates, Number.POSITIVE_INFINITY)}</section>`,
  })
}
