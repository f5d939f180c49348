import { ApiError } from '../../../api/contract/apiError.ts'
import { type Html, html } from '../../../web/html.ts'
import type { StatusPage } from '../../domain/statusPages/definition.ts'
import { type Faults, refusalOf } from '../forms/readForm.ts'
import { namedServices } from '../forms/services.ts'
import { asking } from '../frame/fields.ts'
import {
  orgAction,
  orgPage,
  type OrgRequest,
  type Page,
  type Route,
  type RouteResponse,
} from '../routing/route.ts'
import {
  afterButton,
  changedLine,
  type Draft,
  draftFaults,
  draftOf,
  NEW_DRAFT,
  readDraft,
  sectionsOf,
} from './draft.ts'
import { editorForm } from './editor.ts'

/** The largest form of a page with all its components (bytes): up to twelve bytes for a character. */
const FORM_BYTES_MAX = 1_024 * 1_024

/** Status pages. Gap G51. */
export const statusPageRoutes: readonly Route[] = [
  orgPage('pages', 'read', list),
  orgPage('pages/new', 'operate', (request) => edit(request, { draft: NEW_DRAFT, faults: {} })),
  orgPage('pages/:id', 'read', show),
  orgAction('pages', { access: 'operate', formBytesMax: FORM_BYTES_MAX }, (request) =>
    save(request, undefined),
  ),
  orgAction('pages/:id/save', { access: 'operate', formBytesMax: FORM_BYTES_MAX }, async (request) => {
    const page = await pageOf(request)
    return page === undefined ? { kind: 'not found' } : save(request, page)
  }),
  orgAction('pages/:id/delete', 'operate', remove),
]

async function pageOf({ store, org, params }: OrgRequest): Promise<StatusPage | undefined> {
  return (await store.listStatusPages(org.id)).find(({ id }) => id === params.id)
}

async function list({ store, org, root, may }: OrgRequest): Promise<RouteResponse> {
  const pages = await store.listStatusPages(org.id)
  const body = html`<h1>Status pages ${may('operate') && html`<a class="button main" href="${root}/pages/new">New page</a>`}</h1>
<section class="group" aria-labelledby="pages"><h2 id="pages" class="unseen">Pages</h2>
${
  pages.length === 0
    ? html`<p>No pages. A status page shows customers the state of your services.</p>`
    : html`<div class="scroll" tabindex="0"><table class="stack"><thead><tr><th scope="col">Title</th><th scope="col">Address</th><th scope="col">Visibility</th><th scope="col">Components</th></tr></thead>
<tbody>${pages.map((page) => html`<tr><th scope="row"><a href="${root}/pages/${page.id}"><bdi>${page.title}</bdi></a></th><td data-of="Address">${addresses(page)}</td><td data-of="Visibility">${page.isPublic ? 'public' : 'hidden'}</td><td data-of="Components">${page.sections.reduce((sum, { components }) => sum + components.length, 0)}</td></tr>`)}</tbody></table></div>`
}</section>`
  return { kind: 'page', title: 'Status pages', section: 'pages', body }
}

/** Addresses of a page: on the status listener, and on hosts that the operator bound. */
function addresses({ slug, hosts }: StatusPage): Html {
  return html`<code>/s/${slug}</code>${hosts.map((host) => html`, <a href="https://${host}/">${host}</a>`)}`
}

async function show(request: OrgRequest): Promise<RouteResponse> {
  const page = await pageOf(request)
  if (page === undefined) return { kind: 'not found' }
  return edit(request, { draft: draftOf(page), page, faults: {} })
}

interface Edited {
  readonly draft: Draft
  readonly page?: StatusPage
  readonly faults: Faults
  readonly status?: number
  /** Index of the line that a button has just changed. */
  readonly changed?: number | undefined
}

async function edit(request: OrgRequest, { draft, page, faults, status, changed }: Edited): Promise<Page> {
  const { root, actions, may } = request
  const action = page === undefined ? `${actions}/pages` : `${actions}/pages/${page.id}/save`
  const services = await namedServices(request)
  const editing = { draft, services, faults, changed, action, back: `${root}/pages`, ...(page && { page }) }
  const body = html`<h1>${page === undefined ? 'New status page' : html`<bdi>${page.title}</bdi>`}</h1>
${page !== undefined && facts(page)}
${may('operate') ? editorForm(editing) : contents(draft)}
${
  page !== undefined &&
  may('operate') &&
  html`<form method="post" action="${actions}/pages/${page.id}/delete"><button${asking(`Delete ${page.title} and its addresses?`)}>Delete page</button></form>`
}`
  const title = page?.title ?? 'New status page'
  return { kind: 'page', title, section: 'pages', body, ...(status !== undefined && { status }) }
}

function facts(page: StatusPage): Html {
  const { slug, isPublic, hiddenIncidents } = page
  return html`<section class="group" aria-labelledby="facts"><h2 id="facts">Addresses</h2>
<dl class="facts"><div><dt>Page</dt><dd>${addresses(page)}</dd></div>
<div><dt>Badge</dt><dd><code>/s/${slug}/badge.svg</code></dd></div><div><dt>Feed</dt><dd><code>/s/${slug}/feed.atom</code></dd></div>
<div><dt>JSON</dt><dd><code>/s/${slug}/status.json</code></dd></div>
<div><dt>Visibility</dt><dd>${isPublic ? 'public' : 'hidden: visitors get the same response as for an unknown page'}</dd></div>
${hiddenIncidents.length > 0 && html`<div><dt>Hidden incidents</dt><dd>${hiddenIncidents.join(', ')}</dd></div>`}</dl>
<p class="quiet">To serve this page at a host name of your own, ask the operator of this server.</p></section>`
}

function contents({ lines }: Draft): Html {
  return html`<section class="group" aria-labelledby="components"><h2 id="components">Components</h2><ul>${lines.map(({ kind, name }) => html`<li>${kind === 'section' ? html`<strong><bdi>${name}</bdi></strong>` : html`<bdi>${name}</bdi>`}</li>`)}</ul></section>`
}

async function save(request: OrgRequest, page: StatusPage | undefined): Promise<RouteResponse> {
  const { store, org, form, by, environment, nowMs, root } = request
  const draft = readDraft(form)
  const again = (faults: Faults): Promise<Page> =>
    edit(request, { draft, faults, status: 422, ...(page && { page: opened(page, form) }) })
  const pressed = form.get('do') ?? 'save'
  const added = (await namedServices(request)).find(({ id }) => id === form.get('added'))
  const next = afterButton(draft, pressed, added)
  // Only "Save" checks the generation.
  if (next !== undefined) {
    const changed = changedLine(next, pressed)
    return edit(request, { draft: next, faults: {}, changed, ...(page && { page: opened(page, form) }) })
  }
  const faults = draftFaults(draft)
  if (Object.keys(faults).length > 0) return again(faults)
  const { slug, title, text, isPublic, incidentsShown } = draft
  const settings = { slug, title, text, isPublic, incidentsShown, sections: sectionsOf(draft) }
  const id = page?.id ?? environment.uuid()
  try {
    const refused = await refusalOf(['slug', 'title'], () =>
      page === undefined
        ? store.createStatusPage({ id, orgId: org.id, nowMs, by, settings })
        : store.changeStatusPage(id, settings, { by, generation: Number(form.get('generation')) }),
    )
    if (refused !== undefined) return again(refused)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'conflict') throw error
    const current = page === undefined ? '' : ` It now contains: ${contentsText(draftOf(page))}.`
    const text409 = `The page has changed since you opened it. Your version is below. Saving again replaces the stored page.${current}`
    return edit(request, { draft, faults: { '': text409 }, status: 409, ...(page && { page }) })
  }
  return {
    kind: 'redirect',
    to: `${root}/pages/${id}`,
    flash: `Page saved. ${isPublic ? 'The public page changes within seconds.' : 'It is hidden from the public.'}`,
  }
}

/** `page` with the generation at which the form was opened, so that a change meanwhile is noticed later too. */
function opened(page: StatusPage, form: URLSearchParams): StatusPage {
  return { ...page, generation: Number(form.get('generation')) }
}

function contentsText({ title, lines }: Draft): string {
  return [title, ...lines.map(({ name }) => name)].join(', ')
}

async function remove(request: OrgRequest): Promise<RouteResponse> {
  const { store, by, root } = request
  const page = await pageOf(request)
  if (page === undefined) return { kind: 'not found' }
  await store.deleteStatusPage(page.id, by)
  return { kind: 'redirect', to: `${root}/pages`, flash: 'Page deleted.' }
}
