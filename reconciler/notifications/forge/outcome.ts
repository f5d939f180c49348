import { servicesOutOfSync } from '../../controller/status/servicesOutOfSync.ts'
import type { SetStatus } from '../../controller/status/status.ts'
import { type Budget, commentBudget, fenced } from '../../render/fencedBlock.ts'
import { counted } from '../../text/counts.ts'
import type { StickyComment } from './forge.ts'
import type { Verdict } from './verdict.ts'

/** Maximum of services in a comment, unless its length is reached first. */
const SERVICES_MAX = 500
/** The place of details that are left out of a comment. */
const ELSEWHERE = 'the page of the controller'

/**
 * The result of a commit as a comment on its pull request, at most 60 kB. `madeChanges` are the changes made for the
 * commit, one line each. Untrusted text is in fenced blocks. Pure.
 */
export function outcomeComment(
  set: SetStatus,
  verdict: Verdict,
  madeChanges: readonly string[],
  pageUrl: string | null,
): StickyComment {
  const budget = commentBudget()
  const marker = `<!-- pharos outcome ${set.name} -->`
  const gist = `<!-- ${verdict.sha} ${verdict.state} -->`
  const sections = [
    [marker, gist, `### ${set.name}: ${HEADINGS[verdict.state]}`].join('\n'),
    section(`Commit ${verdict.sha.slice(0, 10)}:`, [verdict.description], budget),
    approvalSection(set, budget),
    section(
      `${counted(set.problems.length, 'problem')} in the manifests:`,
      set.problems.map(problemLine),
      budget,
    ),
    section(
      'Services that do not match git:',
      servicesOutOfSync(set.services, SERVICES_MAX).map(serviceLine),
      budget,
    ),
    section('What was done:', madeChanges, budget),
    pageUrl === null ? '' : `[All about ${set.name}](${pageUrl})`,
  ]
  return { marker, gist, body: sections.filter((text) => text !== '').join('\n\n') }
}

const HEADINGS: Readonly<Record<Verdict['state'], string>> = {
  success: 'applied',
  pending: 'waiting',
  failure: 'not applied',
}

function section(heading: string, lines: readonly string[], budget: Budget): string {
  return lines.length === 0 ? '' : `**${heading}**\n\n${fenced(lines, budget, ELSEWHERE)}`
}

function approvalSection({ approvals }: SetStatus, budget: Budget): string {
  const [first] = approvals
  if (first === undefined) return ''
  const lines = [...first.brakes.map(({ brake, message }) => `${brake}: ${message}`), ...first.changes]
  const how = `To approve exactly these changes: a commit whose message ends with \`Pharos-Approve: ${first.digest}\``
  return `${section('Blocked by safety limits:', lines, budget)}\n\n${how}`
}

function problemLine({ file, line, column, code, message, hint }: SetStatus['problems'][number]): string {
  return `${file}:${line}:${column}: [${code}] ${message}${hint === null ? '' : ` (${hint})`}`
}

function serviceLine({ key, state, message, todo }: SetStatus['services'][number]): string {
  const why = message === '' ? '' : `: ${message}`
  return `${state.toLowerCase()} ${key}${why}${todo === null ? '' : ` (${todo})`}`
}
