import { CONTROL_CHARACTERS } from '../../api/contract/readableText.ts'
import { counted } from '../text/counts.ts'

/** Longest comment (bytes): GitHub accepts 65,536 characters, and a job may add its own lines. */
const COMMENT_BYTES_MAX = 60_000
/** Bytes reserved for headings and notes about omitted lines. */
const FRAME_BYTES = 3_000
/** Longest line that is not shortened (characters). */
const LINE_CHARS_MAX = 1_000

/** The remaining size of a comment. */
export interface Budget {
  bytes: number
}

/** The budget of an empty comment. */
export function commentBudget(): Budget {
  return { bytes: COMMENT_BYTES_MAX - FRAME_BYTES }
}

/** A fenced block that no line can end, with as many `lines` as `budget` allows; `where` shows the others. */
export function fenced(lines: readonly string[], budget: Budget, where = '"pharos plan"'): string {
  const kept: string[] = []
  for (const line of lines.map(harmless)) {
    const bytes = Buffer.byteLength(line) + 1
    if (bytes > budget.bytes) break
    budget.bytes -= bytes
    kept.push(line)
  }
  const longest = Math.max(2, ...kept.flatMap((line) => [...line.matchAll(/`+/g)].map(([run]) => run.length)))
  const fence = '`'.repeat(longest + 1)
  const left = lines.length - kept.length
  const note = left === 0 ? '' : `\n\n_${counted(left, 'more line')}: ${where} shows all of it._`
  return `${fence}diff\n${kept.join('\n')}\n${fence}${note}`
}

function harmless(line: string): string {
  const visible = line.replaceAll(CONTROL_CHARACTERS, ' ')
  return visible.length <= LINE_CHARS_MAX ? visible : `${visible.slice(0, LINE_CHARS_MAX)}…`
}
