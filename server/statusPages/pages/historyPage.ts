import { html } from '../../../web/html.ts'
import { monthText } from '../../../web/times.ts'
import type { PublicIncident, PublicWindow } from '../view/publicPage.ts'
import { framed, type PageContext, pathOf } from './frame.ts'
import { pastByDay } from './incidents.ts'

/** A month of a page. */
export interface HistoryMonth {
  /** YYYY-MM. */
  readonly month: string
  /** The neighbouring months; `undefined` for none. */
  readonly earlier: string | undefined
  readonly later: string | undefined
  /** Incidents that began in the month. */
  readonly incidents: readonly PublicIncident[]
  /** Whether the month has earlier incidents, which the page leaves out. */
  readonly hasMore: boolean
  readonly windows: readonly PublicWindow[]
}

/** The incidents and windows of a month. Pure. */
export function historyPage(context: PageContext, history: HistoryMonth): string {
  const { month, earlier, later, incidents, hasMore, windows } = history
  const link = (to: string | undefined, rel: string) =>
    to !== undefined &&
    html`<li><a rel="${rel}" href="${pathOf(context, `/history?month=${to}`)}">${monthText(to)}</a></li>`
  return framed({
    ...context,
    title: `${monthText(month)} – ${context.siteTitle}`,
    content: html`<h1>${monthText(month)}</h1>
<section class="group" aria-labelledby="month"><h2 id="month" class="unseen">Incidents and maintenance</h2>
${incidents.length + windows.length === 0 ? html`<p>No incidents and no maintenance in this month.</p>` : pastByDay(context, incidents, windows)}
${hasMore && html`<p>These are the last ${incidents.length} incidents of this month.</p>`}</section>
<nav aria-label="Months"><ul class="links">${link(earlier, 'prev')}${link(later, 'next')}</ul></nav>`,
  })
}
