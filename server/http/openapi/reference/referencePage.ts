import { createHash } from 'node:crypto'
import { type Html, type HtmlValue, html } from '../../../../web/html.ts'
import type { OpenApiDocument } from './document.ts'
import { operationSection, operationsOf, type PlacedOperation } from './operationParts.ts'
import { REFERENCE_STYLE } from './referenceStyle.ts'
import { fieldsOf, limitsOf, prose, typeOf } from './schemaParts.ts'

/** Headers of the page: only its own style applies, and it requests nothing. */
export const REFERENCE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(REFERENCE_STYLE).digest('base64')}'`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/**
 * The reference of an API as one HTML document, without scripts or other files. Its only relative link is to
 * `openapi.json` beside it. Throws when `document` refers to a component that it does not have. Pure.
 */
export function referencePage(document: OpenApiDocument): string {
  const { info, tags } = document
  const placed = operationsOf(document)
  const ofTag = (tag: string): readonly PlacedOperation[] =>
    placed.filter(({ operation }) => operation.tags.includes(tag))
  return `<!doctype html>\n${html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title}</title>
${styleElement()}
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<nav class="side" aria-label="Contents">
<p class="brand"><a href="#content">Pharos API ${info.version}</a></p>
${tags.map(
  ({ name }) => html`<p class="heading"><a href="#tag-${name}">${name}</a></p>
<ul>${ofTag(name).map(
    ({ method, operation }) =>
      html`<li><a href="#${operation.operationId}"><span class="method m-${method.toLowerCase()}">${method}</span> ${operation.operationId}</a></li>`,
  )}</ul>`,
)}
<p class="heading"><a href="#errors">Errors</a></p>
<p class="heading"><a href="#schemas">Schemas</a></p>
</nav>
<main id="content" tabindex="-1">
<h1>${info.title}</h1>
${introduction(document)}
${tags.map(
  ({ name, description }) => html`<h2 id="tag-${name}">${name}</h2>
<p>${description}</p>
${ofTag(name).map((one) => operationSection(one, document))}`,
)}
${errorSection(document)}
${schemaSection(document)}
</main>
</body>
</html>`}\n`
}

/** The style, not escaped: it is a constant, and the header has its hash. */
function styleElement(): Html {
  const strings = Object.assign([`<style>${REFERENCE_STYLE}</style>`], {
    raw: [`<style>${REFERENCE_STYLE}</style>`],
  })
  return html(strings)
}

function introduction({ info, components }: OpenApiDocument): HtmlValue {
  return html`<p>${info.summary} <a href="openapi.json">openapi.json</a> has the same in machine-readable form.</p>
<p>Every request needs an API key: <code>Authorization: Bearer KEY</code>. ${Object.values(
    components.securitySchemes,
  ).map(({ description }) => description)}</p>
<p>The examples take the address of the server, a key and ids from the environment:</p>
<pre><code>export PHAROS_URL=http://127.0.0.1:7171 PHAROS_API_KEY=KEY SERVICE_ID=ID INCIDENT_ID=ID</code></pre>`
}

function errorSection(document: OpenApiDocument): Html {
  const statuses = new Map(
    operationsOf(document).flatMap(({ operation }) =>
      Object.entries(operation.responses).flatMap(([status, { $ref: reference }]) =>
        reference === undefined ? [] : [[reference, status] as const],
      ),
    ),
  )
  return html`<h2 id="errors">Errors</h2>
<p>Every refusal has a body with the reason: <code>{"error": "…"}</code></p>
<ul class="responses group">${Object.entries(document.components.responses).map(
    ([name, { description }]) =>
      html`<li id="error-${name}"><strong class="status">${statuses.get(`#/components/responses/${name}`)}</strong> ${description}</li>`,
  )}</ul>`
}

function schemaSection({ components }: OpenApiDocument): Html {
  return html`<h2 id="schemas">Schemas</h2>
${Object.entries(components.schemas).map(([name, schema]) => {
  const fields = fieldsOf(schema)
  const limits = limitsOf(schema)
  return html`<section class="group" id="schema-${name}" aria-labelledby="t-schema-${name}">
<h3 id="t-schema-${name}"><a href="#schema-${name}">${name}</a></h3>
${schema.description !== undefined && html`<p>${prose(schema.description)}</p>`}${fields ?? html`<p>${typeOf(schema)}</p>`}${
  fields === null && limits.length > 0 && html`<p class="quiet">${limits.join('; ')}</p>`
}
</section>`
})}`
}
