import type { LinkSyncRequest } from '../link.ts'

/** The sync request of a new agent without load. */
export const IDLE_SYNC: LinkSyncRequest = {
  ...{
    protocol: 1,
    instance: '0192b1d4-5c1e-4000-8000-0000000000aa',
    version: '0.0.0',
    epoch: 0,
  },
  ...{
    cursor: null,
    inventory: { count: 0, hash: '' },
    wait_ms: 0,
    leaving: false,
  },
  load: {
    ...{ in_flight: 0, lag_p99_ms: 0, skipped: 0, spooled: 0, dropped: 0 },
    ...{ clock_ahead_ms: 0, suspect: false },
  },
}
