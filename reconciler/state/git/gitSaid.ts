import {
  APPROVALS_KEPT,
  type Approval,
  type HistoryAcknowledgement,
  type Suspension,
  type SyncRequest,
} from '../model/record.ts'
import type { StateDocument } from '../model/store.ts'

/** What a saying changes in a state; null where it was said before. */
type Said = Partial<StateDocument> | null

/** The names of what people say and a run uses up, in one space. */
export const SAID = {
  approval: (digest: string): string => `approval ${digest}`,
  syncRequest: 'sync request',
  acknowledgement: (commitSha: string): string => `acknowledgement ${commitSha}`,
} as const

/** `known` with what people said in the newer `reported`, but for what was `used` since. Pure. */
export function withWhatPeopleSaid(
  known: StateDocument,
  { suspensions, approvals, syncRequests, historyAcknowledgements }: StateDocument,
  used: ReadonlySet<string>,
): StateDocument {
  return {
    ...known,
    suspensions,
    approvals: approvals.filter(({ digest }) => !used.has(SAID.approval(digest))),
    syncRequests: used.has(SAID.syncRequest) ? [] : syncRequests,
    historyAcknowledgements: historyAcknowledgements.filter(
      ({ commitSha }) => !used.has(SAID.acknowledgement(commitSha)),
    ),
  }
}

/** How many things `state` holds that people said and no run used yet. Pure. */
export function unusedIn({ approvals, syncRequests, historyAcknowledgements }: StateDocument): number {
  return approvals.length + syncRequests.length + historyAcknowledgements.length
}

/** `state` with the suspension in the place of an earlier one of its scope. Pure. */
export function withSuspension({ suspensions }: StateDocument, suspension: Suspension): Said {
  return { suspensions: [...suspensions.filter(({ scope }) => scope !== suspension.scope), suspension] }
}

/** `state` with the approval, unless its digest is approved. Pure. */
export function withApproval({ approvals }: StateDocument, approval: Approval): Said {
  if (approvals.some(({ digest }) => digest === approval.digest)) return null
  return { approvals: [...approvals, approval].slice(-APPROVALS_KEPT) }
}

/** `state` with the request, unless one waits. Pure. */
export function withSyncRequest({ syncRequests }: StateDocument, request: SyncRequest): Said {
  return syncRequests.length > 0 ? null : { syncRequests: [request] }
}

/** `state` with the acknowledgement, unless its commit is acknowledged. Pure. */
export function withAcknowledgement(state: StateDocument, one: HistoryAcknowledgement): Said {
  const { historyAcknowledgements: all } = state
  if (all.some(({ commitSha }) => commitSha === one.commitSha)) return null
  return { historyAcknowledgements: [...all, one].slice(-APPROVALS_KEPT) }
}
