import { CONTRACT_RATE } from '../../../../api/contract/tokenBucket.ts'
import type { Allowance } from '../../../domain/allowance.ts'
import type { Caller } from '../../../domain/apiKeys.ts'
import type { Admission } from '../../store.ts'
import { rowOf, type Sql } from '../connections/sql.ts'
import { SELECT_CALLER } from './keys.ts'

/** Time in which a key earns one request, and in which an empty bucket fills (microseconds). Contract: Limits, rule 1. */
const REFILL_US = CONTRACT_RATE.refillIntervalMs * 1_000
const FILL_US = CONTRACT_RATE.burstRequests * REFILL_US

/** Largest clock difference of two statements that wait for one bucket (microseconds): longer than a statement runs. */
const CLOCK_GAP_US = 6_000_000

/** When the bucket `r` is full; `excluded` is REFILL_US after the present. */
const FULL_AT = `CASE WHEN r.full_at_us > excluded.full_at_us + ${FILL_US + CLOCK_GAP_US}
  THEN excluded.full_at_us + ${FILL_US - 2 * REFILL_US} ELSE r.full_at_us END`

/** Most refused keys in memory. */
const REFUSED_MAX = 10_000

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

interface Refused {
  readonly caller: Caller
  /** On the clock of this process (milliseconds). */
  readonly untilMs: number
  readonly fullAtMs: number
}

/** The clocks of a limiter. */
export interface LimiterClocks {
  /** Monotonic clock of this process (milliseconds). */
  readonly monotonicMs: () => number
  /** The clock of the buckets (milliseconds since the epoch), for tests; that of the database when absent. */
  readonly bucketsMs?: () => number
}

/**
 * Admission that is exact across all processes of a database. After a refusal, the process itself refuses the key until
 * its next request is earned: a flood costs the database five statements a second.
 */
export function sharedAdmission(write: Sql, { monotonicMs, bucketsMs }: LimiterClocks): Admission {
  const refused = new Map<string, Refused>()
  return {
    admit: async (keyHash) => {
      const name = keyHash.toString('latin1')
      const known = refused.get(name)
      if (known !== undefined && monotonicMs() < known.untilMs) {
        const fullInMs = Math.max(0, known.fullAtMs - monotonicMs())
        return { caller: known.caller, allowance: { isAllowed: false, remaining: 0, fullInMs } }
      }
      refused.delete(name)
      const now = bucketsMs === undefined ? null : Math.round(bucketsMs() * 1_000)
      const row = await rowOf<AdmittedRow>(write, ADMIT, [keyHash, now])
      if (row === undefined) return undefined
      const { nowUs, fullAtUs, beforeUs, ...caller } = row
      if (fullAtUs !== null) return { caller, allowance: allowed(fullAtUs - nowUs) }
      const fullInMs = Math.min((beforeUs ?? nowUs) - nowUs, FILL_US) / 1_000
      if (refused.size >= REFUSED_MAX) refused.clear()
      const untilMs = monotonicMs() + fullInMs - (FILL_US - REFILL_US) / 1_000
      refused.set(name, { caller, untilMs, fullAtMs: monotonicMs() + fullInMs })
      return { caller, allowance: { isAllowed: false, remaining: 0, fullInMs } }
    },
  }
}

function allowed(fullInUs: number): Allowance {
  const remaining = Math.max(0, Math.floor((FILL_US - fullInUs) / REFILL_US))
  return { isAllowed: true, remaining, fullInMs: fullInUs / 1_000 }
}
