import { StateError } from './stateError.ts'
import type { Lease, StateStore } from './store.ts'

/** Monotonic milliseconds, and a wait that ends early when the program is asked to stop. */
export interface LeaseClock {
  readonly nowMs: () => number
  readonly sleep: (delayMs: number) => Promise<void>
  /** Calls `run` every `periodMs` until the function that it returns is called. */
  readonly every: (periodMs: number, run: () => void) => () => void
  /** Called after each renewal. */
  readonly onRenewed?: () => void
}

/** An acquired lease. */
export interface HeldLease {
  readonly epoch: number
  /** Whether no further request may be sent: another holder took over, or may have, because renewals failed for too long. */
  readonly isLost: () => boolean
  /** The error that prevented renewals until the lease was lost; null while it is held, and after a takeover. */
  readonly fault: () => unknown
  /** Ends the renewals and releases the lease. */
  readonly release: () => Promise<void>
}

/** Default time without a renewal after which a lease expires (milliseconds). */
export const LEASE_TTL_MS = { file: 15_000, git: 120_000 } as const
/** Minimum of this time (milliseconds): it has to allow four renewals, each a write to a file or a push. */
export const LEASE_TTL_MIN_MS = { file: 1_000, git: 5_000 } as const

/** Minimum number of checks of another holder's lease before it expires. */
const CHECKS_PER_TTL = 15
/**
 * Maximum time between two checks (milliseconds), which delays the acquisition of a released lease. A check of a file costs a
 * read, one of git a fetch.
 */
export const LEASE_CHECK_MS_MAX = { file: 1_000, git: 8_000 } as const
/** Number of renewals before a lease would expire. */
const RENEWALS_PER_TTL = 4

/**
 * Acquires the lease of `store` for `holder`, waiting at most `timeoutMs`, and renews it until it is released. A lease that was
 * not renewed for the store's `leaseTtlMs`, by the local clock, is taken over. Throws StateError `held` after `timeoutMs`.
 */
export async function takeLease(
  store: StateStore,
  holder: string,
  timeoutMs: number,
  clock: LeaseClock,
): Promise<HeldLease> {
  const startedAtMs = clock.nowMs()
  let watched: { readonly lease: Lease; readonly sinceMs: number } | undefined
  for (;;) {
    const nowMs = clock.nowMs()
    const isAbandoned = watched !== undefined && nowMs - watched.sinceMs >= store.leaseTtlMs
    const result = await store.acquire(holder, isAbandoned ? watched?.lease : undefined)
    if ('epoch' in result) return held(store, result.epoch, clock, nowMs)
    const { heldBy } = result
    if (watched?.lease.epoch !== heldBy.epoch || watched.lease.renewals !== heldBy.renewals) {
      watched = { lease: heldBy, sinceMs: nowMs }
    }
    const leftMs = startedAtMs + timeoutMs - nowMs
    if (leftMs <= 0) throw heldError(heldBy, store.leaseTtlMs)
    await clock.sleep(Math.min(store.leaseCheckMsMax, store.leaseTtlMs / CHECKS_PER_TTL, leftMs))
  }
}

/** `requestedAtMs` is when the lease was requested: other replicas may have seen it from then on. */
function held(store: StateStore, epoch: number, clock: LeaseClock, requestedAtMs: number): HeldLease {
  let renewedAtMs = requestedAtMs
  let isTaken = false
  let isStateMissing = false
  let failure: unknown = null
  const renew = async (): Promise<void> => {
    const startedAtMs = clock.nowMs()
    try {
      await store.renew()
      renewedAtMs = startedAtMs
      failure = null
      clock.onRenewed?.()
    } catch (error) {
      failure = error
      // Other failures may be temporary; if they last, the lease expires.
      if (error instanceof StateError && error.reason === 'lost') isTaken = true
      if (error instanceof StateError && error.reason === 'gone') isStateMissing = true
    }
  }
  const isLost = (): boolean => isTaken || isStateMissing || clock.nowMs() - renewedAtMs >= store.leaseTtlMs
  const stop = clock.every(store.leaseTtlMs / RENEWALS_PER_TTL, () => {
    void renew()
  })
  return {
    epoch,
    isLost,
    fault: () => (isLost() && !isTaken ? failure : null),
    release: async () => {
      stop()
      await store.release()
    },
  }
}

function heldError({ holder }: Lease, ttlMs: number): StateError {
  const lockTimeoutSecs = Math.ceil((2 * ttlMs) / 1_000)
  return new StateError(
    `the state is locked by another run (${holder}): wait for it to end; if it crashed, --lock-timeout ${lockTimeoutSecs}s takes over`,
    'held',
  )
}
