import { type Html, html } from '../../../web/html.ts'
import { SHAPES } from '../../../web/stateShapes.ts'
import { ASSETS } from './assets.ts'

/** Colour schemes; `auto` follows the device. */
export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** Location and theme of a page. */
export interface PageContext {
  /** Prefix of the paths of the page: `/s/example`, or '' at the root of a host. */
  readonly root: string
  readonly theme: Theme
  /** Title of the status page. */
  readonly siteTitle: string
}

/** A page for the frame. */
export interface FramedPage extends PageContext {
  /** Title of the document. */
  readonly title: string
  readonly content: Html
}

/** The complete document. Pure. */
export function framed(page: FramedPage): string {
  const { root, theme, siteTitle, title, content } = page
  return `<!doctype html>\n${html`<html lang="en"${theme !== 'auto' && html` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme === 'auto' ? 'light dark' : theme}">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="/assets/favicon.svg">
<link rel="stylesheet" href="/assets/${ASSETS.styleFile}">
<link rel="alternate" type="application/atom+xml" title="${siteTitle}" href="${root}/feed.atom">
<noscript><meta http-equiv="refresh" content="60"></noscript>
<script type="module" src="/assets/${ASSETS.scriptFile}"></script>
</head>
<body>
${SHAPES}
<a class="skip" href="#content">Skip to content</a>
<header class="top"><p class="brand"><a href="${pathOf(page, '')}"><bdi>${siteTitle}</bdi></a></p></header>
<main id="content" tabindex="-1">
${content}
</main>
<footer class="foot">
<nav aria-label="More"><ul class="links">
<li><a href="${pathOf(page, '')}">Current status</a></li>
<li><a href="${pathOf(page, '/history')}">History</a></li>
<li><a href="${root}/feed.atom">Atom feed</a></li>
<li><a href="${root}/status.json">JSON</a></li>
</ul></nav>
<p>Days are UTC days. <span id="zone">Times are UTC.</span> Monitored by Pharos.</p>
</footer>
</body>
</html>`}\n`
}

/** The path of a page below the root, with the same theme. Pure. */
export function pathOf({ root, theme }: PageContext, path: string): string {
  const target = `${root}${path}` || '/'
  if (theme === 'auto') return target
  return `${target}${target.includes('?') ? '&' : '?'}theme=${theme}`
}
