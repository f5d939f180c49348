import { type Html, type HtmlValue, html } from '../../../../web/html.ts'
import { bodyOf, nameOfReference, type OpenApiDocument, type Operation, resolved } from './document.ts'
import { curlExample } from './examples.ts'
import { entry, fieldsOf, prose, typeOf } from './schemaParts.ts'

/** An operation with its method, in upper case, and its path. */
export interface PlacedOperation {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** Text for the location of a parameter. */
const PLACES: Readonly<Record<string, string>> = {
  path: 'Part of the path',
  query: 'Part of the query',
  header: 'A header',
}

/** All operations in the order of the document. Pure. */
export function operationsOf({ paths }: OpenApiDocument): readonly PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
}

/** The section of an operation: parameters, body, responses and an example command. Pure. */
export function operationSection(placed: PlacedOperation, document: OpenApiDocument): Html {
  const { method, path, operation } = placed
  const { operationId, summary, description } = operation
  return html`<section class="group" id="${operationId}" aria-labelledby="t-${operationId}">
<h3 id="t-${operationId}"><a href="#${operationId}">${summary}</a></h3>
<p class="route"><span class="method m-${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
<p>${prose(description)}</p>
${parameterList(operation, document)}${bodyPart(operation, document)}
<h4>Responses</h4>
${responseList(operation, document)}
<h4>Example</h4>
<pre class="example"><code>${curlExample(method, path, operationId)}</code></pre>
</section>`
}

function parameterList({ parameters }: Operation, { components }: OpenApiDocument): HtmlValue {
  if (parameters.length === 0) return null
  return html`<h4>Parameters</h4>
<ul class="fields">${parameters
    .map((parameter) => resolved(parameter, components.parameters))
    .map(({ name, in: place, schema, description, required }) =>
      entry(name, schema, {
        note: `${PLACES[place] ?? place}.${description === undefined ? '' : ` ${description}.`}`,
        isRequired: required === true,
      }),
    )}</ul>`
}

function bodyPart({ requestBody }: Operation, { components }: OpenApiDocument): HtmlValue {
  const schema = bodyOf(requestBody)
  if (schema === undefined) return null
  return html`<h4>Body</h4>
<p>JSON: ${typeOf(schema)}</p>
${fieldsOf(schema, components.schemas)}`
}

function responseList({ responses }: Operation, { components }: OpenApiDocument): Html {
  return html`<ul class="responses">${Object.entries(responses).map(([status, response]) => {
    if (response.$ref !== undefined) {
      const name = nameOfReference(response.$ref)
      return html`<li><a class="status" href="#error-${name}">${status}</a> ${resolved(response, components.responses).description}</li>`
    }
    const schema = bodyOf(response)
    return html`<li><strong class="status">${status}</strong> ${schema === undefined ? 'No body' : typeOf(schema)}</li>`
  })}</ul>`
}
