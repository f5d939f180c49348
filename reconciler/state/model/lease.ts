import { StateError } from './stateError.ts'
import type { Lease, StateStore } from './store.ts'

/** Monotonic milliseconds, and a wait that ends early when the program is to stop. */
export interface LeaseClock {
  readonly nowMs: () => number
  readonly sleep: (delayMs: number) => Promise<void>
  /** Calls `run` every `periodMs` until the function that it returns is called. */
  readonly every: (periodMs: number, run: () => void) => () => void
  /** Called after each sign of life. */
  readonly onRenewed?: () => void
}

/** A lease in hand. */
export interface HeldLease {
  readonly epoch: number
  /** Whether nothing may be sent any more: another one took over, or may have because renewals failed too long. */
  readonly isLost: () => boolean
  /** What kept it from being renewed until it was lost; null while it is not, and where another holder took it over. */
  readonly fault: () => unknown
  /** Ends the renewals and lets the next one in. */
  readonly release: () => Promise<void>
}

/** Time without a sign of life after which a holder counts as gone by default (milliseconds). */
export const LEASE_TTL_MS = { file: 15_000, git: 120_000 } as const
/**
 * Shortest time without a sign of life after which a holder may count as gone (milliseconds): four renewals have to
 * fit in, each a write to a file or a push.
 */
export const LEASE_TTL_MIN_MS = { file: 1_000, git: 5_000 } as const

/** Fewest looks at a lease that another one holds, in the time after which that one counts as gone. */
const LOOKS_PER_TTL = 15
/**
 * Longest time between two such looks (milliseconds): how long it takes at most until a lease that was given back is
 * taken. A look at a file costs a read, one at git a fetch.
 */
export const LEASE_LOOK_MS_MAX = { file: 1_000, git: 8_000 } as const
/** Renewals in the time after which a holder counts as gone. */
const RENEWALS_PER_TTL = 4

/**
 * Takes the lease of `store` for `holder`, waiting at most `timeoutMs` for the one who has it. It is taken
 * from a holder that showed no sign of life for the store's `leaseTtlMs` on our own clock, and renewed until
 * it is released. Throws StateError `held` when the time is over.
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
    const isGone = watched !== undefined && nowMs - watched.sinceMs >= store.leaseTtlMs
    const answer = await store.acquire(holder, isGone ? watched?.lease : undefined)
    if ('epoch' in answer) return held(store, answer.epoch, clock, nowMs)
    const { heldBy } = answer
    if (watched?.lease.epoch !== heldBy.epoch || watched.lease.renewals !== heldBy.renewals) {
      watched = { lease: heldBy, sinceMs: nowMs }
    }
    const leftMs = startedAtMs + timeoutMs - nowMs
    if (leftMs <= 0) throw heldError(heldBy, store.leaseTtlMs)
    await clock.sleep(Math.min(store.leaseLookMsMax, store.leaseTtlMs / LOOKS_PER_TTL, leftMs))
  }
}

/** `askedAtMs` is when the lease was asked for: others may have seen it from then on. */
function held(store: StateStore, epoch: number, clock: LeaseClock, askedAtMs: number): HeldLease {
  let renewedAtMs = askedAtMs
  let isTaken = false
  let isGone = false
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
      // Anything else may pass; when it lasts, the time since the last renewal says so.
      if (error instanceof StateError && error.reason === 'lost') isTaken = true
      if (error instanceof StateError && error.reason === 'gone') isGone = true
    }
  }
  const isLost = (): boolean => isTaken || isGone || clock.nowMs() - renewedAtMs >= store.leaseTtlMs
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
    `the state is locked by another run (${holder}): wait for it to end; if it died, --lock-timeout ${lockTimeoutSecs}s takes over from it`,
    'held',
  )
}
