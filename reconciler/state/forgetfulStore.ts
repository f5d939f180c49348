import type { StateStore } from './store.ts'

/**
 * The store of a run without state: nothing outlives the process, so only services with `metadata.id` can
 * be managed and nothing is ever pruned.
 */
export function forgetfulStore(): StateStore {
  return {
    isDurable: false,
    stateId: 'stateless',
    home: async () => null,
    settleIn: async () => {},
    // What was bound in this run is of no use to it: each service is compared with the API anew.
    bindings: async () => [],
    openIntents: async () => [],
    begin: async () => {},
    settle: async () => {},
    failed: async () => {},
    save: async () => {},
    recordRun: async () => {},
    runs: async () => [],
    close: async () => {},
  }
}
