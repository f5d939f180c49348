import { CONTRACT_RATE } from '../../../../api/contract/tokenBucket.ts'
import type { Allowance } from '../../../domain/allowance.ts'
import type { Caller } from '../../../domain/apiKeys.ts'
import { SELECT_CALLER } from '../../shared/callerQuery.ts'
import type { Admission } from '../../store.ts'
import { rowOf, type Sql } from '../connections/sql.ts'

/** Time in which a key earns one request, and in which an empty bucket fills (microseconds). Contract: Limits, rule 1. */
const REFILL_US = CONTRACT_RATE.refillIntervalMs * 1_000
const FILL_US = CONTRACT_RATE.burstRequests * REFILL_US

/** Largest clock difference of two statements that wait for one bucket (microseconds): longer than a statement runs. */
const CLOCK_GAP_US = 6_000_000

/** When the bucket `r` is full; `excluded` is REFILL_US after the present. */
const FULL_AT = `CASE WHEN r.full_at_us > excluded.full_at_us + ${FILL_US + CLOCK_GAP_US}
  THEN excluded.full_at_us + ${FILL_US - 2 * REFILL_US} ELSE r.full_at_us END`

/** Maximum number of keys with empty buckets in memory. */
const EMPTY_MAX = 10_000

/**
 * Reads the caller and spends a token, in one statement. A bucket is stored as the instant at which it will be full, by
 * the clock of the database. A request moves this instant by the time in which one request is earned, and is refused
 * when the instant would be too far ahead. If the instant is further ahead than any request can move it, the clock was
 * set back: one request is left.
 */
const ADMIT = `
  WITH k AS MATERIALIZED (${SELECT_CALLER}),
    w AS MATERIALIZED (SELECT "keyId",
      coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now FROM k),
    g AS (INSERT INTO rate_limits AS r (key_id, full_at_us) SELECT "keyId", now + ${REFILL_US} FROM w
      ON CONFLICT (key_id) DO UPDATE
        SET full_at_us = greatest(${FULL_AT}, excluded.full_at_us - ${REFILL_US}) + ${REFILL_US}
        WHERE ${FULL_AT} <= excluded.full_at_us + ${FILL_US - 2 * REFILL_US}
      RETURNING full_at_us)
  SELECT k.*, w.now AS "nowUs", (SELECT full_at_us FROM g) AS "fullAtUs",
    (SELECT full_at_us FROM rate_limits r WHERE r.key_id = k."keyId") AS "beforeUs"
  FROM k, w`

interface AdmittedRow extends Caller {
  readonly nowUs: number
  /** `null` when the request was refused. */
  readonly fullAtUs: number | null
  /** `null` before the first request of the key. */
  readonly beforeUs: number | null
}

/** A bucket without a request, on the clock of this process (milliseconds). */
interface EmptyBucket {
  readonly caller: Caller
  /** When its next request is earned. */
  readonly untilMs: number
  readonly fullAtMs: number
}

type Admitted = Awaited<ReturnType<Admission['admit']>>

/** The clocks of a limiter. */
export interface LimiterClocks {
  /** Monotonic clock of this process (milliseconds). */
  readonly monotonicMs: () => number
  /** The clock of the buckets (milliseconds since the epoch), for tests; that of the database when absent. */
  readonly bucketsMs?: () => number
}

/**
 * Admission that is exact across all processes of a database. Once a bucket is empty, the process itself refuses the key
 * until its next request is earned, and then asks the database for one request at a time: a flood costs the database
 * five statements a second, however many requests arrive at once.
 */
export function sharedAdmission(write: Sql, { monotonicMs, bucketsMs }: LimiterClocks): Admission {
  const empty = new Map<string, EmptyBucket>()
  const attempts = new Map<string, Promise<unknown>>()
  const note = (name: string, caller: Caller, fullInMs: number): void => {
    const nowMs = monotonicMs()
    if (empty.size >= EMPTY_MAX) empty.clear()
    const untilMs = nowMs + fullInMs - (FILL_US - REFILL_US) / 1_000
    empty.set(name, { caller, untilMs, fullAtMs: nowMs + fullInMs })
  }
  const ask = async (name: string, keyHash: Buffer): Promise<Admitted> => {
    const now = bucketsMs === undefined ? null : Math.round(bucketsMs() * 1_000)
    const row = await rowOf<AdmittedRow>(write, ADMIT, [keyHash, now])
    empty.delete(name)
    if (row === undefined) return undefined
    const { nowUs, fullAtUs, beforeUs, ...caller } = row
    const allowance = fullAtUs === null ? refused((beforeUs ?? nowUs) - nowUs) : allowed(fullAtUs - nowUs)
    if (allowance.remaining === 0) note(name, caller, allowance.fullInMs)
    return { caller, allowance }
  }
  return {
    admit: async (keyHash) => {
      const name = keyHash.toString('latin1')
      for (;;) {
        const known = empty.get(name)
        if (known !== undefined && monotonicMs() < known.untilMs) {
          const fullInMs = Math.max(0, known.fullAtMs - monotonicMs())
          return { caller: known.caller, allowance: { isAllowed: false, remaining: 0, fullInMs } }
        }
        const attempt = attempts.get(name)
        if (attempt !== undefined) await attempt
        else if (known === undefined) return await ask(name, keyHash)
        else {
          const newAttempt = ask(name, keyHash).finally(() => attempts.delete(name))
          attempts.set(name, newAttempt)
          return await newAttempt
        }
      }
    },
  }
}

function refused(fullInUs: number): Allowance {
  return { isAllowed: false, remaining: 0, fullInMs: Math.min(fullInUs, FILL_US) / 1_000 }
}

function allowed(fullInUs: number): Allowance {
  const remaining = Math.max(0, Math.floor((FILL_US - fullInUs) / REFILL_US))
  return { isAllowed: true, remaining, fullInMs: fullInUs / 1_000 }
}
