import { type Html, html } from '../../../web/html.ts'
import { plainText } from '../../../web/plainText.ts'
import { icon, stateLabel } from '../../../web/stateShapes.ts'
import { instant } from '../../../web/times.ts'
import {
  DAYS_SHOWN,
  type PublicComponent,
  type PublicHistory,
  type PublicPage,
  RECENT_DAYS,
} from '../view/publicPage.ts'
import { uptimeText } from '../view/uptime.ts'
import { framed, type PageContext, pathOf } from './frame.ts'
import { historyBar, problemList } from './history.ts'
import { openIncident, pastByDay, plannedWindow } from './incidents.ts'

/** The page with the current status. Pure. */
export function currentPage(context: PageContext, page: PublicPage): string {
  const { title, text, headline, asOf, sections, incidents, recent, maintenance, readAtMs } = page
  const more = html`<p>Older ones are in the <a href="${pathOf(context, '/history')}">incident history</a>.</p>`
  return framed({
    ...context,
    title: `${headline.text} – ${title}`,
    content: html`<h1 class="unseen"><bdi>${title}</bdi></h1>
<section class="banner b-${headline.state}" aria-labelledby="headline">
<h2 id="headline">${icon(headline.state)}${headline.text}</h2>
<p>${asOf === null ? 'No results yet' : html`As of ${instant(asOf)}`}</p>
</section>
${text !== '' && plainText(text)}
${
  incidents.length > 0 &&
  html`<section class="group" aria-labelledby="open"><h2 id="open">Current incidents</h2>
${incidents.map((incident) => openIncident(context, incident))}
${page.hasMoreIncidents && more}</section>`
}
${
  maintenance.length > 0 &&
  html`<section class="group" aria-labelledby="planned"><h2 id="planned">Maintenance</h2>
${maintenance.map((window) => plannedWindow(window, readAtMs))}</section>`
}
${sections.map(section)}
${sections.length > 0 && legend()}
<section class="group" aria-labelledby="past"><h2 id="past">Past ${RECENT_DAYS} days</h2>
${recent.length === 0 ? html`<p>No resolved incidents.</p>` : pastByDay(context, recent)}
${page.hasMoreRecent && more}
<p><a href="${pathOf(context, '/history')}">Incident history</a></p></section>`,
  })
}

function section({ name, components }: PublicPage['sections'][number], index: number): Html {
  const id = `section-${index}`
  const heading = name === '' ? 'Systems' : name
  return html`<section class="group" aria-labelledby="${id}">
<h2 id="${id}"${name === '' && html` class="unseen"`}><bdi>${heading}</bdi></h2>
<ul class="components">${components.map((one) => html`<li>${component(one)}</li>`)}</ul>
</section>`
}

function component(one: PublicComponent): Html {
  return html`<div class="row"><h3><bdi>${one.name}</bdi></h3>${stateLabel(one.state)}</div>
${one.text !== '' && html`<p class="quiet"><bdi>${one.text}</bdi></p>`}
${one.history !== null && historyOf(one.history, one.name)}`
}

function historyOf(history: PublicHistory, name: string): Html {
  return html`${historyBar(history)}
<div class="row scale"><span>${DAYS_SHOWN} days ago</span><span class="uptime">${uptimeOver(history)}</span><span>Today</span></div>
${problemList(history, name)}`
}

/** Uptime and its number of days, which is smaller for a new component. */
function uptimeOver({ uptime, uptimeDays }: PublicHistory): Html {
  if (uptime === null) return html`No data`
  const span = uptimeDays === 1 ? '1 day' : `${uptimeDays} days`
  return html`${uptimeText(uptime)}<span class="wide"> uptime</span> over ${span}`
}

function legend(): Html {
  return html`<p class="legend">Each bar is a day; the coloured part shows the share of the day with problems.
Uptime is the time operational or degraded, over ${DAYS_SHOWN} days or since the first result. Maintenance, pauses and time without results are not counted.</p>`
}
