import { type Html, html } from '../../../web/html.ts'
import { SHAPES } from '../../../web/stateShapes.ts'
import { isPermitted } from '../../domain/accounts/roles.ts'
import type { Membership, Person } from '../../store/accountStore.ts'
import { ASSETS } from './assets.ts'
import { type Notices, noticesHtml } from './notices.ts'
import { SECTIONS, type SectionId } from './sections.ts'

/** A page and its frame. */
export interface FramedPage {
  readonly title: string
  readonly body: Html
  readonly section: SectionId | undefined
  /** Message about the previous request; '' for none. */
  readonly flash: string
  /** The signed-in person; `undefined` without a session. */
  readonly person: Person | undefined
  readonly memberships: readonly Membership[]
  /** The organisation of the page; `undefined` for a page outside of organisations. */
  readonly org: Membership | undefined
  /** Warnings of the organisation; `undefined` elsewhere. */
  readonly notices: Notices | undefined
  readonly version: string
  readonly isBare: boolean
}

/** The complete document. Pure. */
export function framed(page: FramedPage): string {
  const { title, body, flash, person, org, version, isBare } = page
  const look = person?.look ?? 'auto'
  return `<!doctype html>\n${html`<html lang="en"${look !== 'auto' && html` data-theme="${look}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${look === 'auto' ? 'light dark' : look}">
<title>${org === undefined ? `${title} – Pharos` : `${title} – ${org.orgName} – Pharos`}</title>
<link rel="icon" type="image/svg+xml" href="/assets/favicon.svg">
<link rel="stylesheet" href="/assets/${ASSETS.styleFile}">
<script type="module" src="/assets/${ASSETS.scriptFile}"></script>
</head>
<body${(isBare || person === undefined) && html` class="bare"`}>
${SHAPES}
<a class="skip" href="#content">Skip to content</a>
${!isBare && person !== undefined && header(page, person)}
<main id="content" tabindex="-1">
${org !== undefined && page.notices !== undefined && noticesHtml(page.notices, org.orgId)}
${flash !== '' && html`<p class="flash" role="status">${flash}</p>`}
${body}
</main>
${!isBare && html`<footer class="foot"><p><span id="zone">Times are UTC.</span> Pharos ${version}</p></footer>`}
</body>
</html>`}\n`
}

function header(page: FramedPage, person: Person): Html {
  const { org } = page
  return html`<header class="side">
<p class="brand"><a href="/"><img src="/assets/favicon.svg" alt="" width="24" height="24">Pharos</a></p>
${orgSwitcher(page)}
${org !== undefined && navigation(page, org)}
<div class="who"><p><a href="/me">${person.name}</a></p>
<form method="post" action="/api/sessions/end"><button class="plain">Sign out</button></form></div>
</header>`
}

function orgSwitcher({ org, memberships }: FramedPage): Html {
  const others = memberships.filter(({ orgId }) => orgId !== org?.orgId)
  if (org !== undefined && others.length === 0) return html`<p class="org"><bdi>${org.orgName}</bdi></p>`
  return html`<details class="org"><summary><bdi>${org?.orgName ?? 'Organisations'}</bdi></summary>
<ul>${others.map(({ orgId, orgName }) => html`<li><a href="/o/${orgId}"><bdi>${orgName}</bdi></a></li>`)}</ul></details>`
}

function navigation({ section }: FramedPage, org: Membership): Html {
  const shown = SECTIONS.filter(({ access }) => isPermitted(org.role, access))
  return html`<nav aria-label="Main"><ul>${shown.map(
    ({ id, name, path }) =>
      html`<li><a href="/o/${org.orgId}/${path}"${id === section && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>`
}
