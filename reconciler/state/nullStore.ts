import type { StateStore } from './model/store.ts'

/**
 * The store of a run without state: nothing outlives the process, so only services with `metadata.id` can
 * be managed and nothing is ever pruned.
 */
export function nullStore(): StateStore {
  return {
    isDurable: false,
    stateId: 'stateless',
    leaseTtlMs: Number.POSITIVE_INFINITY,
    leaseLookMsMax: Number.POSITIVE_INFINITY,
    beginsAhead: false,
    home: async () => null,
    // What was bound in this run is of no use to it: each service is compared with the API anew.
    bindings: async () => [],
    openIntents: async () => [],
    runs: async () => [],
    events: async () => [],
    suspensions: async () => [],
    approvals: async () => [],
    syncRequests: async () => [],
    historyAcknowledgements: async () => [],
    lease: async () => null,
    writtenAtMs: async () => null,
    acquire: async () => ({ epoch: 1 }),
    renew: async () => {},
    release: async () => {},
    settleIn: async () => {},
    begin: async () => {},
    settle: async () => {},
    failed: async () => {},
    save: async () => {},
    recordRun: async () => {},
    note: async () => {},
    useApproval: async () => false,
    takeSyncRequest: async () => false,
    useHistoryAcknowledgement: async () => false,
    restore: async () => {},
    checkpoint: async () => {},
    suspend: async () => {},
    resume: async () => false,
    approve: async () => {},
    requestSync: async () => {},
    acknowledgeHistory: async () => {},
    close: async () => {},
  }
}
