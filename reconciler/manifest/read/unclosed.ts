import { parseEvents, YAMLException } from 'js-yaml'
import { MANIFEST_DEPTH_MAX } from '../manifestLimits.ts'
import type { LineColumn } from '../manifestProblem.ts'

/** What opens a list, a mapping or a text that has to be closed, and what closes it. */
const CLOSERS: Readonly<Record<string, string>> = { '[': ']', '{': '}', '"': '"', "'": "'" }

const ENDS = 'unexpected end of the stream within a'
/** What the parser says of each, how it opens, and what the parser says of every beginning that holds it open. */
const KINDS = [
  // A beginning may also end in a text of the list or mapping.
  { reason: `${ENDS} flow collection`, openers: /[[{]/g, persists: /^unexpected end of the stream/ },
  { reason: `${ENDS} double quoted scalar`, openers: /"/g, persists: /double quoted scalar$/ },
  { reason: `${ENDS} single quoted scalar`, openers: /'/g, persists: /single quoted scalar$/ },
] as const

/** Most places that are tried: each costs a parse of the file up to there. */
const TRIALS_MAX = 16

/** Something that is opened and never closed. */
export interface Unclosed extends LineColumn {
  readonly opener: string
  readonly closer: string
}

/**
 * The bracket or quote of `text` because of which `error` was thrown, where it opens: the parser itself only
 * says where the text ends. `undefined` when the error is another one or too much stands between. Pure.
 */
export function unclosedIn(text: string, error: YAMLException): Unclosed | undefined {
  if (!/^(unexpected end of|deficient indentation)/.test(error.reason)) return undefined
  const open = text.slice(0, error.mark?.position ?? text.length).trimEnd()
  const kind = KINDS.find(({ reason }) => reasonAgainst(open) === reason)
  if (kind === undefined) return undefined
  const openers = [...open.matchAll(kind.openers)].reverse().slice(0, TRIALS_MAX)
  // From where it opens, every longer beginning of the text ends too early as well.
  const found = openers.find(
    ({ index }) => !kind.persists.test(reasonAgainst(open.slice(0, index).trimEnd())),
  )
  if (found === undefined) return undefined
  const lines = open.slice(0, found.index).split(/\r\n|\n|\r/)
  const [opener] = found
  const closer = CLOSERS[opener] ?? opener
  return { opener, closer, line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}

/** Why `text` is no YAML; empty when it is. */
function reasonAgainst(text: string): string {
  try {
    parseEvents(text, { maxDepth: MANIFEST_DEPTH_MAX })
    return ''
  } catch (error) {
    if (error instanceof YAMLException) return error.reason
    throw error
  }
}
