import { OBEYED } from '../../api/contract/readableText.ts'
import { counted } from '../text/counts.ts'

/** Longest comment (bytes): GitHub takes 65,536 characters, and a job may want to add a line of its own. */
const COMMENT_BYTES_MAX = 60_000
/** What is kept free for headings and for saying that something was left out (bytes). */
const FRAME_BYTES = 3_000
/** Longest line that is shown whole (characters). */
const LINE_CHARS_MAX = 1_000

/** How much more the blocks of a comment may hold. */
export interface Budget {
  bytes: number
}

/** The budget of a comment that is still empty. */
export function commentBudget(): Budget {
  return { bytes: COMMENT_BYTES_MAX - FRAME_BYTES }
}

/** `lines` in a block that none of them can end, as many as `budget` has room for; `where` shows the others. */
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
  const visible = line.replaceAll(OBEYED, ' ')
  return visible.length <= LINE_CHARS_MAX ? visible : `${visible.slice(0, LINE_CHARS_MAX)}…`
}
