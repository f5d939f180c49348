import { type Html, html } from '../../web/html.ts'
import { CONDITIONS, conditionWord } from '../controller/status/conditions.ts'
import { countText, SERVICE_STATES } from '../controller/status/labels.ts'
import type { ServiceState, SetStatus } from '../controller/status/status.ts'
import { SERVICES_PER_PAGE } from './bounds.ts'
import { framed } from './frame.ts'
import { icon } from './icons.ts'
import { serviceList } from './serviceList.ts'
import { setSheet, totalOf } from './setSheet.ts'
import type { PageRequest } from './viewer.ts'

/** The selected services of a set. */
export interface ServicesRequest {
  /** State of the services; null for all. */
  readonly state: ServiceState | null
  /** Page number, from 1; the last page for larger numbers. */
  readonly page: number
}

/** The page of one set with all of its services, the most urgent first, in pages. Pure. */
export function setPage(set: SetStatus, request: PageRequest, services: ServicesRequest): string {
  const { tone } = CONDITIONS[set.headline]
  const word = conditionWord(set.headline).toLowerCase()
  const self = encodeURIComponent(set.name)
  const { shown, page, pages } = pageOf(set, services)
  const address = addressOf(self, services.state, page)
  return framed({
    ...request,
    title: `${set.name}: ${word} · Pharos`,
    heading: html`<h1>${icon(tone)}${set.name}: ${word}</h1>
<p><a href="../">All sets</a></p>`,
    root: '../',
    self: address,
    set: set.name,
    content: setSheet(set, {
      ...request,
      setPage: self,
      services: html`<h3 id="services">${services.state === null ? 'Services' : `Services: ${services.state.toLowerCase()}`}</h3>
${services.state !== null && html`<p><a href="${self}">Services in any state</a></p>`}
${shown.length > 0 ? serviceList(shown, set) : html`<p>${set.role === 'follower' ? 'Only the leader knows them.' : 'There are none.'}</p>`}
${pager({ self, state: services.state, page, pages })}`,
    }),
  })
}

/** The page for a name that no set has, such as that of a removed set in an old link. Pure. */
export function noSetPage(request: PageRequest): string {
  return framed({
    ...request,
    title: 'No such set · Pharos',
    heading: html`<h1>No such set</h1>`,
    root: '../',
    self: null,
    isRefreshing: false,
    content: html`<p>The configuration of the controller has no set of this name. <a href="../">All sets</a></p>`,
  })
}

function pageOf({ services, counts }: SetStatus, { state, page }: ServicesRequest) {
  const total = state === null ? totalOf(counts) : counts[state]
  const pages = Math.max(1, Math.ceil(total / SERVICES_PER_PAGE))
  const chosen = Math.min(page, pages)
  const states = state === null ? SERVICE_STATES : [state]
  const from = (chosen - 1) * SERVICES_PER_PAGE
  const sorted = states.flatMap((one) => services.filter((service) => service.state === one))
  return { shown: sorted.slice(from, from + SERVICES_PER_PAGE), page: chosen, pages }
}

function addressOf(self: string, state: ServiceState | null, page: number): string {
  const query = [...(state === null ? [] : [`state=${state}`]), ...(page === 1 ? [] : [`page=${page}`])]
  return query.length === 0 ? self : `${self}?${query.join('&')}`
}

interface Pager {
  readonly self: string
  readonly state: ServiceState | null
  readonly page: number
  readonly pages: number
}

function pager({ self, state, page, pages }: Pager): Html | false {
  const link = (to: number, word: string): Html | false =>
    to >= 1 && to <= pages && to !== page && html`<a href="${addressOf(self, state, to)}">${word}</a>`
  return (
    pages > 1 &&
    html`<nav class="pages" aria-label="Pages of services"><span>Page ${countText(page)} of ${countText(pages)}</span>
${page > 2 && link(1, 'First')} ${link(page - 1, 'Previous')} ${link(page + 1, 'Next')} ${page < pages - 1 && link(pages, 'Last')}</nav>`
  )
}
