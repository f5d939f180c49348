import { CONDITION_LABELS, countText } from '../../controller/status/labels.ts'
import type { ConditionType, SetStatus } from '../../controller/status/status.ts'
import { shortened } from '../../text/counts.ts'
import type { CommitMark } from './forge.ts'

/** Conditions with which the newest commit counts as not applied. */
const FAILURES: ReadonlySet<ConditionType> = new Set(['Stalled', 'ManifestsInvalid', 'Degraded', 'HealLoop'])
/** Conditions for which a commit waits. */
const WAITS: ReadonlySet<ConditionType> = new Set([
  'ApprovalRequired',
  'HistoryRewritten',
  'SuspectedServerChange',
  'Suspended',
  'WindowClosed',
])

/** Longest reason in a status (characters); forges may shorten it further. */
const REASON_CHARS_MAX = 230

/** The current result of a commit. */
export interface Verdict extends CommitMark {
  readonly sha: string
  /** Whether no run of the commit has ended yet. */
  readonly isProvisional: boolean
}

/**
 * The result of the newest commit of `set`; null before the first. An applied commit remains successful, because later changes
 * of services are drift. Pure.
 */
export function verdictOf(set: SetStatus): Verdict | null {
  const { commit, refusedCommit, appliedCommit, conditions, counts, lastRun } = set
  if (refusedCommit !== null) {
    const refusal = conditions.find(({ type }) => type === 'CommitRefused')
    const description = refusal === undefined ? 'not accepted' : worded(refusal)
    return { sha: refusedCommit.sha, state: 'failure', description, isProvisional: false }
  }
  if (commit === null) return null
  const { sha } = commit
  if (appliedCommit === sha) {
    const description = `${countText(counts.Synced)} services match this commit`
    return { sha, state: 'success', description, isProvisional: false }
  }
  const looked = lastRun?.commit === sha
  const failure = conditions.find(({ type }) => FAILURES.has(type))
  if (looked && failure !== undefined)
    return { sha, state: 'failure', description: worded(failure), isProvisional: false }
  const wait = conditions.find(({ type }) => WAITS.has(type))
  if (looked && wait !== undefined)
    return { sha, state: 'pending', description: worded(wait), isProvisional: false }
  return { sha, state: 'pending', description: 'being applied', isProvisional: true }
}

function worded({ type, message }: { readonly type: ConditionType; readonly message: string }): string {
  return shortened(`${CONDITION_LABELS[type].word}: ${message}`, REASON_CHARS_MAX)
}
