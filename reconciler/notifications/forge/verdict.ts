import { CONDITIONS, conditionWord } from '../../controller/status/conditions.ts'
import { countText } from '../../controller/status/labels.ts'
import type { Condition, SetStatus } from '../../controller/status/status.ts'
import { shortened } from '../../text/counts.ts'
import type { CommitMark } from './forge.ts'

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
  const held = lastRun?.commit === sha ? conditions : []
  for (const state of ['failure', 'pending'] as const) {
    const reason = held.find(({ type }) => CONDITIONS[type].commit === state)
    if (reason !== undefined) return { sha, state, description: worded(reason), isProvisional: false }
  }
  return { sha, state: 'pending', description: 'being applied', isProvisional: true }
}

function worded({ type, message }: Condition): string {
  return shortened(`${conditionWord(type)}: ${message}`, REASON_CHARS_MAX)
}
