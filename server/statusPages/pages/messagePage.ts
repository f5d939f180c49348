import { html } from '../../../web/html.ts'
import { ASSETS } from './assets.ts'

/** A page with a message instead of a status page. Pure. */
export function messagePage(text: string): string {
  return `<!doctype html>\n${html`<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${text}</title>
<link rel="icon" type="image/svg+xml" href="/assets/favicon.svg"><link rel="stylesheet" href="/assets/${ASSETS.styleFile}"></head>
<body><main class="top"><h1>${text}</h1></main></body>
</html>`}\n`
}
