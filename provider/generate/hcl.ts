/** Longest object or list that is written on one line (characters). */
const LINE_CHARS_MAX = 90

/** An expression that is written verbatim, such as a reference. */
export interface Verbatim {
  readonly expression: string
}

/** A value to write; `null` and `undefined` entries of objects are left out. */
export type HclValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | Verbatim
  | readonly HclValue[]
  | ReadonlyMap<string, HclValue>
  | { readonly [attribute: string]: HclValue }

/** A text as an HCL string, with `${` and `%{` escaped. Pure. */
export function hclString(text: string): string {
  const escaped = [...text].map((character) => {
    const named = NAMED_ESCAPES[character]
    if (named !== undefined) return named
    return /\p{Cc}|\p{Cs}/u.test(character)
      ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
      : character
  })
  return `"${escaped.join('').replaceAll(/[$%](?=\{)/g, (mark) => `${mark}${mark}`)}"`
}

const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

/** `value` as an expression, formatted as terraform fmt does, at `indent` (spaces). Pure. */
export function hclExpression(value: HclValue, indent = 0): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'string') return hclString(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (isVerbatim(value)) return value.expression
  if (isList(value)) return list(value, indent)
  const entries = value instanceof Map ? [...value] : Object.entries(value)
  return object(
    entries.flatMap(([name, entry]) => (entry == null ? [] : [[nameText(name), entry] as const])),
    indent,
  )
}

function isVerbatim(value: object): value is Verbatim {
  return 'expression' in value && typeof value.expression === 'string'
}

function isList(value: object): value is readonly HclValue[] {
  return Array.isArray(value)
}

/** `{ for = …` would begin a for expression. */
function nameText(name: string): string {
  return name !== 'for' && /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) ? name : hclString(name)
}

type Entries = readonly (readonly [string, HclValue])[]

function list(values: readonly HclValue[], indent: number): string {
  const line = `[${values.map((value) => hclExpression(value)).join(', ')}]`
  const isPlain = values.every((value) => typeof value !== 'object')
  if (isPlain && fits(line)) return line
  const inner = ' '.repeat(indent + 2)
  const lines = values.map((value) => `${inner}${hclExpression(value, indent + 2)},`)
  return `[\n${lines.join('\n')}\n${' '.repeat(indent)}]`
}

function object(entries: Entries, indent: number): string {
  const line = `{ ${entries.map(([name, value]) => `${name} = ${hclExpression(value)}`).join(', ')} }`
  if (entries.length === 0) return '{}'
  if (fits(line)) return line
  return `{\n${hclArguments(entries, indent + 2)}\n${' '.repeat(indent)}}`
}

function fits(line: string): boolean {
  return line.length <= LINE_CHARS_MAX && !line.includes('\n')
}

/** `name = value` on lines of their own; neighbours of one line each are aligned, as terraform fmt does. Pure. */
export function hclArguments(entries: Entries, indent: number): string {
  const margin = ' '.repeat(indent)
  const texts = entries.map(([name, value]) => ({ name, text: hclExpression(value, indent) }))
  const lines: string[] = []
  for (let start = 0; start < texts.length; ) {
    let end = start
    while (end < texts.length && !texts[end]?.text.includes('\n')) end += 1
    const group = texts.slice(start, Math.max(end, start + 1))
    const width = Math.max(...group.map(({ name }) => name.length))
    for (const { name, text } of group) lines.push(`${margin}${name.padEnd(width)} = ${text}`)
    start += group.length
  }
  return lines.join('\n')
}
