import { type Html, type HtmlValue, html } from '../../../../web/html.ts'
import { nameOfReference, type Schema } from './document.ts'

/** Schemas by name. */
export type Schemas = Readonly<Record<string, Schema>>

const code = (text: string): Html => html`<code>${text}</code>`

/** `values` with commas, and `word` before the last. Pure. */
function joined(values: readonly HtmlValue[], word: string): HtmlValue {
  return values.map((value, index) => {
    if (index === 0) return value
    return index === values.length - 1 ? [` ${word} `, value] : [', ', value]
  })
}

/** The type of `schema` in words, with a link to each schema that has a name. Pure. */
export function typeOf(schema: Schema): HtmlValue {
  if (schema.$ref !== undefined) {
    const name = nameOfReference(schema.$ref)
    return html`<a href="#schema-${name}">${name}</a>`
  }
  if (schema.enum !== undefined)
    return joined(
      schema.enum.map((value) => code(JSON.stringify(value))),
      'or',
    )
  if (schema.const !== undefined) return code(JSON.stringify(schema.const))
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined) return joined(alternatives.map(typeOf), 'or')
  if (schema.type === 'array') return ['array of ', typeOf(schema.items ?? {})]
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object') {
    return ['object (names to ', typeOf(schema.additionalProperties), ')']
  }
  if (Array.isArray(schema.type)) return joined(schema.type, 'or')
  if (schema.type === undefined) return 'any value'
  return schema.format === undefined ? String(schema.type) : `${schema.type} (${schema.format})`
}

/** `text` with the parts between backticks as code. Pure. */
export function prose(text: string): HtmlValue {
  return text.split('`').map((part, index) => (index % 2 === 1 ? code(part) : part))
}

/** `3 to 5 things`, `at most 5 things`, `at least 3 things`, or no text. Pure. */
function range(least: number | undefined, most: number | undefined, unit: string): readonly string[] {
  const shown = (limit: number): string => limit.toLocaleString('en-GB')
  const end = unit === '' ? '' : ` ${(most ?? least) === 1 ? unit.slice(0, -1) : unit}`
  if (least !== undefined && most !== undefined) {
    return [least === most ? `${shown(least)}${end}` : `${shown(least)} to ${shown(most)}${end}`]
  }
  if (most !== undefined) return [`at most ${shown(most)}${end}`]
  return least === undefined ? [] : [`at least ${shown(least)}${end}`]
}

/** Limits of `schema`, of its items, and of its form that is not null, in words. Pure. */
export function limitsOf(schema: Schema): readonly string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema
  return [
    ...range(minItems, maxItems, 'items'),
    ...range(minLength, maxLength, 'characters'),
    ...range(minimum, maximum, ''),
    ...(pattern === undefined ? [] : [`pattern ${pattern}`]),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
    ...(schema.items === undefined ? [] : limitsOf(schema.items).map((limit) => `each ${limit}`)),
    ...(schema.anyOf ?? []).flatMap(limitsOf),
  ]
}

/** One entry of a list of fields or parameters. Pure. */
export function entry(
  name: string,
  schema: Schema,
  { note, isRequired, nested }: { note?: string | undefined; isRequired: boolean; nested?: HtmlValue },
): Html {
  const limits = limitsOf(schema)
  const description = note ?? schema.description
  return html`<li><p><code class="name">${name}</code> <span class="type">${typeOf(schema)}</span>${isRequired && html` <span class="must">required</span>`}</p>${
    limits.length > 0 && html`<p class="quiet">${limits.join('; ')}</p>`
  }${description !== undefined && html`<p>${prose(description)}</p>`}${nested}</li>`
}

/** The schemas that `schema` refers to directly, not through a field. Pure. */
function referencesOf(schema: Schema): readonly string[] {
  if (schema.$ref !== undefined) return [nameOfReference(schema.$ref)]
  const additional = typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []
  const parts = [...(schema.items === undefined ? [] : [schema.items]), ...additional]
  return [...parts, ...(schema.anyOf ?? [])].flatMap(referencesOf)
}

/**
 * The fields of `schema`, each with a collapsed list of the fields of the schemas it refers to. Without `schemas` there
 * are no such lists. A schema inside itself is not repeated. Pure.
 */
export function fieldsOf(schema: Schema, schemas?: Schemas, path: readonly string[] = []): HtmlValue {
  if (schema.$ref !== undefined) {
    const name = nameOfReference(schema.$ref)
    const found = schemas?.[name]
    return found === undefined ? null : fieldsOf(found, schemas, [...path, name])
  }
  if (schema.oneOf !== undefined) {
    return [
      html`<p>Exactly one of:</p>`,
      schema.oneOf.map((one) => fieldsOf({ ...one, required: [] }, schemas, path)),
    ]
  }
  const fields = Object.entries(schema.properties ?? {})
  if (fields.length === 0) return null
  const nestedOf = (field: Schema): HtmlValue => {
    if (schemas === undefined) return null
    return referencesOf(field)
      .filter((name) => !path.includes(name) && isNested(schemas[name]))
      .map(
        (name) =>
          html`<details><summary>${name}</summary>${fieldsOf({ $ref: `#/${name}` }, schemas, path)}</details>`,
      )
  }
  return html`<ul class="fields">${fields.map(([name, field]) =>
    entry(name, field, { isRequired: schema.required?.includes(name) === true, nested: nestedOf(field) }),
  )}</ul>`
}

/** Whether `schema` has fields to show. Pure. */
function isNested(schema: Schema | undefined): boolean {
  return schema?.properties !== undefined || schema?.oneOf !== undefined
}
