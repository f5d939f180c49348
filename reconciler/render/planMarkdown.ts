import pc from 'picocolors'
import { isReleasable } from '../apply/approval.ts'
import { formatProblem, type ManifestProblem } from '../manifest/manifestProblem.ts'
import { counted } from '../text/counts.ts'
import { type Budget, commentBudget, fenced } from './fencedBlock.ts'
import { changesText, planDigestText, type ShownPlan, summaryLine } from './planText.ts'

const plain = pc.createColors(false)

/**
 * A plan as a comment for a pull request, at most 60 kB. Untrusted text is in fenced blocks, where Markdown, HTML and mentions
 * have no effect. Pure.
 */
export function planMarkdown(planResult: ShownPlan, problems: readonly ManifestProblem[]): string {
  const { limited, digest } = planResult
  const budget = commentBudget()
  const sections = [
    `### ${summaryLine(planResult, problems)}`,
    problems.length === 0
      ? ''
      : section(
          `${counted(problems.length, 'problem')} in the manifests:`,
          problems.map(formatProblem),
          budget,
        ),
    limited.changes.length === 0 ? '' : fenced(diffLines(changesText(limited.changes, plain)), budget),
    limited.withheld.length === 0
      ? ''
      : section(
          '**Blocked by safety limits:**',
          [
            ...limited.tripped.map((limit) => `${limit.brake}: ${limit.message}`),
            ...diffLines(changesText(limited.withheld, plain)),
          ],
          budget,
        ),
    !isReleasable(planResult)
      ? ''
      : `To approve: \`pharos apply … --approve ${digest}\`, or a commit whose message ends with \`Pharos-Approve: ${digest}\``,
    planResult.planDigest === undefined ? '' : planDigestText(planResult.planDigest),
  ]
  return sections.filter((text) => text !== '').join('\n\n')
}

/** Why there is no plan, as a comment for a pull request. Pure. */
export function failureMarkdown(message: string): string {
  return `### There is no plan\n\n${fenced([message], commentBudget())}`
}

function section(heading: string, lines: readonly string[], budget: Budget): string {
  return `${heading}\n\n${fenced(lines, budget)}`
}

/** Moves the sign of a change to the start of its line, so that it is coloured. */
function diffLines(lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.replace(/^ {2}(?! )/, '').replace(/^~/, '!'))
}
