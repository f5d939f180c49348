import pc from 'picocolors'
import { formatProblem, type ManifestProblem } from '../manifest/manifestProblem.ts'
import { changesText, counted, type PlannedSituation, summaryLine } from './planText.ts'

/** Longest comment (bytes): GitHub takes 65,536 characters, and a job may want to add a line of its own. */
const COMMENT_BYTES_MAX = 60_000
/** What is kept free for headings and for saying that something was left out (bytes). */
const FRAME_BYTES = 3_000
/** Longest line that is shown whole (characters). */
const LINE_CHARS_MAX = 1_000

const plain = pc.createColors(false)

/**
 * A plan as a comment for a pull request, at most 60 kB. Everything that somebody may have written stands in
 * fenced blocks, where neither Markdown nor HTML nor a mention means anything. Pure.
 */
export function planMarkdown(situation: PlannedSituation, problems: readonly ManifestProblem[]): string {
  const { braked, digest } = situation
  const budget = { bytes: COMMENT_BYTES_MAX - FRAME_BYTES }
  const sections = [
    `### ${summaryLine(situation)}`,
    problems.length === 0
      ? ''
      : section(
          `${counted(problems.length, 'problem')} in the manifests:`,
          problems.map(formatProblem),
          budget,
        ),
    braked.changes.length === 0 ? '' : fenced(diffLines(changesText(braked.changes, plain)), budget),
    braked.withheld.length === 0
      ? ''
      : section(
          '**Held back:**',
          [
            ...braked.tripped.map((brake) => `${brake.brake}: ${brake.message}`),
            ...diffLines(changesText(braked.withheld, plain)),
          ],
          budget,
        ),
    digest === null ? '' : `To let it through: \`pharos apply … --approve ${digest}\``,
  ]
  return sections.filter((text) => text !== '').join('\n\n')
}

/** Why there is no plan, as a comment for a pull request. Pure. */
export function failureMarkdown(message: string): string {
  return `### There is no plan\n\n${fenced([message], { bytes: COMMENT_BYTES_MAX - FRAME_BYTES })}`
}

interface Budget {
  bytes: number
}

function section(heading: string, lines: readonly string[], budget: Budget): string {
  return `${heading}\n\n${fenced(lines, budget)}`
}

/** The sign of a change first in its line: that is what colours it. */
function diffLines(lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.replace(/^ {2}(?! )/, '').replace(/^~/, '!'))
}

/** `lines` in a block that none of them can end, as many as `budget` has room for. */
function fenced(lines: readonly string[], budget: Budget): string {
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
  const note = left === 0 ? '' : `\n\n_${counted(left, 'more line')}: "pharos plan" shows all of it._`
  return `${fence}diff\n${kept.join('\n')}\n${fence}${note}`
}

function harmless(line: string): string {
  const visible = line.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, ' ')
  return visible.length <= LINE_CHARS_MAX ? visible : `${visible.slice(0, LINE_CHARS_MAX)}…`
}
