import { parseEvents, YAMLException } from 'js-yaml'
import { MANIFEST_DEPTH_MAX } from '../manifestLimits.ts'
import type { LineColumn } from '../manifestProblem.ts'

/** Opening brackets and quotes with their closing ones. */
const CLOSERS: Readonly<Record<string, string>> = { '[': ']', '{': '}', '"': '"', "'": "'" }

const ENDS = 'unexpected end of the stream within a'
/** The parser's reason for each kind, its opening characters, and the reasons for every prefix that leaves it open. */
const KINDS = [
  // A prefix may also end in a text of the list or mapping.
  { reason: `${ENDS} flow collection`, openers: /[[{]/g, persists: /^unexpected end of the stream/ },
  { reason: `${ENDS} double quoted scalar`, openers: /"/g, persists: /double quoted scalar$/ },
  { reason: `${ENDS} single quoted scalar`, openers: /'/g, persists: /single quoted scalar$/ },
] as const

/** Maximum of places to try, because each needs a parse of the file up to there. */
const TRIALS_MAX = 16

/** A bracket or quote without its closing one. */
export interface Unclosed extends LineColumn {
  readonly opener: string
  readonly closer: string
}

/**
 * The unclosed bracket or quote that caused `error`: the parser itself reports only the end of the text. `undefined` for
 * other errors and after TRIALS_MAX places. Pure.
 */
export function unclosedIn(text: string, error: YAMLException): Unclosed | undefined {
  if (!/^(unexpected end of|deficient indentation)/.test(error.reason)) return undefined
  const open = text.slice(0, error.mark?.position ?? text.length).trimEnd()
  const kind = KINDS.find(({ reason }) => reasonAgainst(open) === reason)
  if (kind === undefined) return undefined
  const openers = [...open.matchAll(kind.openers)].reverse().slice(0, TRIALS_MAX)
  // Every prefix beyond the opening character ends too early as well.
  const found = openers.find(
    ({ index }) => !kind.persists.test(reasonAgainst(open.slice(0, index).trimEnd())),
  )
  if (found === undefined) return undefined
  const lines = open.slice(0, found.index).split(/\r\n|\n|\r/)
  const [opener] = found
  const closer = CLOSERS[opener] ?? opener
  return { opener, closer, line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}

/** The parser's reason why `text` is not YAML; empty when it is. */
function reasonAgainst(text: string): string {
  try {
    parseEvents(text, { maxDepth: MANIFEST_DEPTH_MAX })
    return ''
  } catch (error) {
    if (error instanceof YAMLException) return error.reason
    throw error
  }
}
