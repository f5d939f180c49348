import { isDeepStrictEqual } from 'node:util'
import { mappingOf } from '../mapping.ts'
import { Positions } from '../read/position.ts'
import { meaningOf } from './meaning.ts'

/**
 * Inserts `metadata.id: id` beside `metadata.name` in the document of `text` with this `index` (from 0) and changes no other byte.
 * `undefined` when that is impossible, for example because `metadata` is an alias. Pure.
 */
export function withServiceId(text: string, index: number, id: string): string | undefined {
  const documents = meaningOf(text)
  const document = mappingOf(documents?.[index])
  const name = document === undefined ? undefined : new Positions(text).offsets(index, ['metadata', 'name'])
  if (documents === undefined || document === undefined || name === undefined) return undefined
  const withId = { ...document, metadata: { ...mappingOf(document.metadata), id } }
  const wanted = documents.with(index, withId)
  return splices(text, name, id).find((spliced) => isDeepStrictEqual(meaningOf(spliced), wanted))
}

/** Candidates for the result; the caller selects the one with the right meaning. */
function splices(
  text: string,
  name: { readonly key: number; readonly value: number },
  id: string,
): readonly string[] {
  const inserted = (offset: number, more: string): string =>
    `${text.slice(0, offset)}${more}${text.slice(offset)}`
  const key = name.key - (/["']/.test(text[name.key - 1] ?? '') ? 1 : 0)
  const indent = ' '.repeat(key - lineStartOf(text, key))
  const lineBreak = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n'
  return [
    // On a separate line, after a comment on the line of the name.
    inserted(endOf(text, name.value, /[^\r\n]*/y), `${lineBreak}${indent}id: ${id}`),
    // Between braces.
    inserted(endOf(text, name.value, /[-a-z0-9._]*["']?/y), `, id: ${id}`),
  ]
}

function lineStartOf(text: string, offset: number): number {
  return Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1
}

/** The end of the match of `pattern`, which is sticky, at `offset`. */
function endOf(text: string, offset: number, pattern: RegExp): number {
  pattern.lastIndex = offset
  return offset + (pattern.exec(text)?.[0].length ?? 0)
}
