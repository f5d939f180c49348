import {
  APPROVALS_KEPT,
  type Approval,
  type HistoryAcknowledgement,
  type StateDocument,
  type Suspension,
  type SyncRequest,
} from '../model/record.ts'

/** The changes of a state by an operator's input; null for a repetition. */
type Change = Partial<StateDocument> | null

/** Names of the input that a run uses, unique in a state. */
export const INPUT_NAME = {
  approval: (digest: string): string => `approval ${digest}`,
  syncRequest: 'sync request',
  acknowledgement: (commitSha: string): string => `acknowledgement ${commitSha}`,
} as const

/** `known` with the operators' input of the newer state, without `used` input. Pure. */
export function withOperatorInput(
  known: StateDocument,
  { suspensions, approvals, syncRequests, historyAcknowledgements }: StateDocument,
  used: ReadonlySet<string>,
): StateDocument {
  return {
    ...known,
    suspensions,
    approvals: approvals.filter(({ digest }) => !used.has(INPUT_NAME.approval(digest))),
    syncRequests: used.has(INPUT_NAME.syncRequest) ? [] : syncRequests,
    historyAcknowledgements: historyAcknowledgements.filter(
      ({ commitSha }) => !used.has(INPUT_NAME.acknowledgement(commitSha)),
    ),
  }
}

/** Number of approvals, requests and acknowledgements in `state` that no run used yet. Pure. */
export function unusedIn({ approvals, syncRequests, historyAcknowledgements }: StateDocument): number {
  return approvals.length + syncRequests.length + historyAcknowledgements.length
}

/** The change that adds the suspension, in place of an earlier one of its scope. Pure. */
export function withSuspension({ suspensions }: StateDocument, suspension: Suspension): Change {
  return { suspensions: [...suspensions.filter(({ scope }) => scope !== suspension.scope), suspension] }
}

/** The change that adds the approval; null when its digest is approved already. Pure. */
export function withApproval({ approvals }: StateDocument, approval: Approval): Change {
  if (approvals.some(({ digest }) => digest === approval.digest)) return null
  return { approvals: [...approvals, approval].slice(-APPROVALS_KEPT) }
}

/** The change that adds the request; null when there is one. Pure. */
export function withSyncRequest({ syncRequests }: StateDocument, request: SyncRequest): Change {
  return syncRequests.length > 0 ? null : { syncRequests: [request] }
}

/** The change that adds the acknowledgement; null when its commit is acknowledged already. Pure. */
export function withAcknowledgement(state: StateDocument, one: HistoryAcknowledgement): Change {
  const { historyAcknowledgements: all } = state
  if (all.some(({ commitSha }) => commitSha === one.commitSha)) return null
  return { historyAcknowledgements: [...all, one].slice(-APPROVALS_KEPT) }
}
