import { isDeepStrictEqual } from 'node:util'
import { EVENT_ID, type Event, getScalarValue, parseEvents } from 'js-yaml'
import { MANIFEST_DEPTH_MAX } from '../manifestLimits.ts'
import { lineIndexAt } from '../read/position.ts'
import { meaningOf } from './meaning.ts'

/** The order of the fields of a document. */
const FIELD_ORDER = ['apiVersion', 'kind', 'metadata', 'spec', 'policy']

/**
 * Formats `text`: no byte order mark, LF line breaks, no trailing blanks, at most one empty line in a row and none at the
 * end, fields of each document in order. Indentation, quotes and comments are kept. `undefined` when it is not YAML. A step
 * that would change the meaning is skipped. Idempotent. Pure.
 */
export function formattedManifest(text: string): string | undefined {
  const meaning = meaningOf(text)
  if (meaning === undefined) return undefined
  let current = text
  for (const step of [withPlainBreaks, withFieldsInOrder, withoutNeedlessBlanks]) {
    const next = step(current)
    if (next !== current && isDeepStrictEqual(meaningOf(next), meaning)) current = next
  }
  return current
}

function withPlainBreaks(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n')
}

function withoutNeedlessBlanks(text: string): string {
  const lines = text.split('\n')
  const inScalars = linesInScalars(text)
  const kept: string[] = []
  for (const [index, line] of lines.entries()) {
    if (inScalars.has(index)) kept.push(line)
    else if (line.trimEnd() !== '') kept.push(line.replace(/[ \t]+$/, ''))
    else if (kept.length > 0 && kept.at(-1) !== '') kept.push('')
  }
  while (kept.at(-1) === '') kept.pop()
  return kept.length === 0 ? '' : `${kept.join('\n')}\n`
}

/** Indexes of the lines of multi-line scalars, in which blanks may be content. */
function linesInScalars(text: string): ReadonlySet<number> {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const found = new Set<number>()
  for (const event of eventsOf(text)) {
    if (event.type !== EVENT_ID.SCALAR || !text.slice(event.valueStart, event.valueEnd).includes('\n'))
      continue
    const first = lineIndexAt(event.valueStart, starts)
    const last = lineIndexAt(event.valueEnd, starts)
    for (let line = first; line <= last; line += 1) found.add(line)
  }
  return found
}

function eventsOf(text: string): readonly Event[] {
  return parseEvents(text, { maxDepth: MANIFEST_DEPTH_MAX })
}

/** A top-level field of a document and the offset of its first line, comments right above included. */
interface Field {
  readonly name: string
  readonly start: number
}

function withFieldsInOrder(text: string): string {
  let result = ''
  let done = 0
  for (const fields of fieldsOfDocuments(text)) {
    const [first] = fields
    if (first === undefined) continue
    const end = endOfDocument(text, fields.at(-1)?.start ?? first.start)
    const lines = fields.map(({ start }, index) =>
      withBreak(text.slice(start, fields[index + 1]?.start ?? end)),
    )
    const blanks = lines.map((part) => /(?<=\n)(?:[ \t]*\n)*$/.exec(part)?.[0] ?? '')
    // Blank lines above a field move with it; those at the end of the document do not move.
    const parts = fields.map(({ name }, index) => ({
      rank: rankOf(name),
      above: blanks[index - 1] ?? '',
      text: lines[index]?.slice(0, lines[index].length - (blanks[index]?.length ?? 0)) ?? '',
    }))
    parts.sort((a, b) => a.rank - b.rank)
    const ordered = parts.map((part, index) => (index === 0 ? part.text : `${part.above}${part.text}`))
    result += `${text.slice(done, first.start)}${ordered.join('')}${blanks.at(-1) ?? ''}`
    done = end
  }
  return `${result}${text.slice(done)}`
}

function rankOf(name: string): number {
  const rank = FIELD_ORDER.indexOf(name)
  return rank < 0 ? FIELD_ORDER.length : rank
}

function withBreak(lines: string): string {
  return lines.endsWith('\n') ? lines : `${lines}\n`
}

/** The fields of each document; none for a document with an indented field. */
function fieldsOfDocuments(text: string): readonly (readonly Field[])[] {
  const events = eventsOf(text)
  const documents: Field[][] = []
  let depth = 0
  let isKey = true
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) {
      documents.push([])
      depth = 0
    } else if (event.type === EVENT_ID.POP) depth -= 1
    // The mapping of a document has depth 1, and its keys and values alternate.
    if (depth === 1 && event.type !== EVENT_ID.POP) {
      if (isKey) documents.at(-1)?.push(fieldAt(text, event))
      isKey = !isKey
    }
    if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) {
      depth += 1
      if (depth === 1) isKey = true
    }
  }
  return documents.map((fields) =>
    fields.every(({ start }) => start >= 0)
      ? fields.map((field, index) => withComments(text, field, index))
      : [],
  )
}

/** The field whose key is `event`; `start` is -1 when the key is indented. */
function fieldAt(text: string, event: Event): Field {
  if (event.type !== EVENT_ID.SCALAR || event.anchorStart >= 0 || event.tagStart >= 0)
    return { name: '', start: -1 }
  const isQuoted = /["']/.test(text[event.valueStart - 1] ?? '')
  const start = event.valueStart - (isQuoted ? 1 : 0)
  const isAtEdge = start === 0 || text[start - 1] === '\n'
  return { name: getScalarValue(text, event), start: isAtEdge ? start : -1 }
}

/** Comments right above a field move with it; those above the first field belong to the document. */
function withComments(text: string, field: Field, index: number): Field {
  if (index === 0) return field
  const above = /(?:^#[^\n]*\n)+$/m.exec(text.slice(0, field.start))
  const start = above === null || above.index + above[0].length !== field.start ? field.start : above.index
  return { ...field, start }
}

function endOfDocument(text: string, from: number): number {
  const marker = /\n(?=(?:---|\.\.\.)(?:\s|$))/g
  marker.lastIndex = from
  const found = marker.exec(text)
  return found === null ? text.length : found.index + 1
}
