import { type Html, html } from '../../web/html.ts'
import { shortened } from '../text/counts.ts'
import { MESSAGE_CHARS_MAX, NAME_CHARS_MAX } from './bounds.ts'
import { ICON_SHAPES, LOGO } from './icons.ts'
import { STYLE_VERSION } from './style.ts'
import { timeElement } from './time.ts'
import type { PageRequest } from './viewer.ts'

/** Interval of refreshes of a page (seconds). */
export const REFRESH_SECONDS = 30

/** Inputs of the frame of a page. */
export interface PageFrame extends Omit<PageRequest, 'apiUrl'> {
  readonly title: string
  readonly heading: Html
  /** Relative path to the first page: `./` or `../`, so that a proxy may serve the pages below any path. */
  readonly root: './' | '../' | '../../'
  /** Relative address of this page without the refresh parameter; null for a form. */
  readonly self: string | null
  /** Name of the set of the page; absent for other pages. */
  readonly set?: string
  readonly content: Html
}

/** A complete HTML document. Pure. */
export function framed(page: PageFrame): string {
  const { title, heading, root, isRefreshing, status, content } = page
  return `<!doctype html>\n${html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${isRefreshing && html`<meta http-equiv="refresh" content="${REFRESH_SECONDS}">`}
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${root}favicon.svg">
<link rel="stylesheet" href="${root}style.css?${STYLE_VERSION}">
</head>
<body>
${ICON_SHAPES}
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<div class="bar-top"><p class="brand"><a href="${root}">${LOGO}Pharos</a></p>
${account(page)}</div>
${heading}
<p class="quiet">As of ${timeElement(status.at, status.at, 'absolute')}. ${refreshing(page)}</p>
</header>
<main id="content">
${outcome(page)}
${content}
</main>
<footer class="foot">
<p>Pharos ${status.version} on <bdi>${status.replica}</bdi>, started ${timeElement(status.startedAt, status.at)}.
<a href="${root}status.json">All of this as JSON</a></p>
</footer>
</body>
</html>`}\n`
}

/** Links that switch off the refresh, for screen readers and unfolded details. */
function refreshing({ isRefreshing, self }: PageFrame): Html | false {
  if (self === null) return false
  const sign = self.includes('?') ? '&' : '?'
  return isRefreshing
    ? html`Refreshes every ${REFRESH_SECONDS} seconds: <a href="${self}${sign}refresh=off">stop refreshing</a>.`
    : html`Automatic refresh is off: <a href="${self}">refresh again</a>.`
}

function account({ viewer, root, set }: PageFrame): Html | false {
  switch (viewer.kind) {
    case 'none':
      return false
    case 'guest':
      return html`<p class="account"><a href="${root}sign-in${set !== undefined && `?set=${encodeURIComponent(set)}`}">Sign in</a></p>`
    case 'person':
      return html`<form class="account" method="post" action="${root}sign-out"><span>Signed in as <bdi>${shortened(viewer.name, NAME_CHARS_MAX)}</bdi></span> <button>Sign out</button></form>`
  }
}

/**
 * The result of the last action. It has the focus, because screen readers do not announce what a page already has when
 * it loads.
 */
function outcome({ viewer }: PageFrame): Html | false {
  if (viewer.kind !== 'person' || viewer.message === null) return false
  const { isDone, text } = viewer.message
  return html`<p class="outcome condition ${isDone ? 'c-good' : 'c-bad'}" role="${isDone ? 'status' : 'alert'}" tabindex="-1" autofocus>${shortened(text, MESSAGE_CHARS_MAX)}</p>`
}
