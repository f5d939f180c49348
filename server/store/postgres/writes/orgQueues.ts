import { randomUUID } from 'node:crypto'
import { ApiError } from '../../../../api/contract/apiError.ts'
import { orgNotFound } from '../../shared/orgNotFound.ts'
import { uuidOrNull } from '../../shared/uuid.ts'
import { isConflict, isLost, isOfValues, isUnsent, Retries } from '../connections/failures.ts'
import type { Pools } from '../connections/pools.ts'
import { rowOf, type Sql } from '../connections/sql.ts'
import { Draft } from './draft.ts'
import { guardedWrite } from './guardedWrite.ts'
import { type ReadSet, readOrg } from './orgState.ts'

/** Maximum number of mutations that share a statement. */
const BATCH_MAX = 64
/**
 * Size of a batch (bytes) from which further mutations wait for the next one: one large batch would delay all of them.
 */
const BATCH_BYTES_MAX = 4 * 1_024 * 1_024
/** Conflicts after which a batch locks the organisation before it reads, and after which it fails. */
const CONFLICTS_UNLOCKED = 3
const CONFLICTS_MAX = 8
/** Newest audit entries that are searched for a write of the last seconds. */
const ENTRIES_SEARCHED = 20_000

/** A mutation of an organisation. */
interface Mutation<Result> {
  readonly reads: ReadSet
  /**
   * Synchronous and repeatable: after a conflict it runs again on the new state. An error that it throws rejects the
   * mutation.
   */
  readonly decide: (draft: Draft) => Result
}

interface Waiting extends Mutation<unknown> {
  /** When it was queued (monotonic milliseconds). */
  readonly sinceMs: number
  readonly settle: (outcome: Outcome) => void
}

type Outcome = { readonly result: unknown } | { readonly error: unknown }

/** A write whose response was lost. */
interface UncertainWrite {
  readonly writeId: string
  readonly outcomes: readonly Outcome[]
}

/** A wall clock and a monotonic clock (milliseconds). */
export interface QueueClocks {
  readonly nowMs: () => number
  readonly monotonicMs: () => number
}

/**
 * Queues of mutations, one per organisation. Each runs one batch at a time in this process; mutations that arrive
 * meanwhile form the next batch, and wait in memory without a connection.
 */
export class OrgQueues {
  readonly #pools: Pick<Pools, 'write' | 'inTransaction'>
  readonly #clocks: QueueClocks
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #running = new Set<Promise<void>>()
  readonly #listeners: (() => void)[] = []
  #isClosing = false

  constructor(pools: Pick<Pools, 'write' | 'inTransaction'>, clocks: QueueClocks) {
    this.#pools = pools
    this.#clocks = clocks
  }

  /** Calls `listener` after each write. */
  onWrite(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Rejects mutations that have not begun, and all later ones. */
  rejectWaiting(): void {
    this.#isClosing = true
  }

  /** Resolves when no mutation is under way. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** Runs `mutation` after all earlier ones of `orgId` in this process. Rejects with the error of `decide`. */
  run<Result>(orgId: string, mutation: Mutation<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome): void => {
        if ('error' in outcome) reject(outcome.error)
        // True because `decide` of this mutation gave it.
        else resolve(outcome.result as Result)
      }
      const queued = { ...mutation, settle, sinceMs: this.#clocks.monotonicMs() }
      const waiting = this.#waiting.get(orgId)
      if (waiting !== undefined) {
        waiting.push(queued)
        return
      }
      this.#waiting.set(orgId, [queued])
      const draining = this.#drain(orgId)
      this.#running.add(draining)
      void draining.finally(() => this.#running.delete(draining))
    })
  }

  /**
   * Runs `work` in a transaction that locks the organisation `orgId`: the data it reads does not change before it ends,
   * and mutations decided meanwhile are decided again. Rejects with `refusal` when there is no such organisation.
   */
  withOrgLocked<Result>(
    orgId: string,
    refusal: ApiError,
    work: (sql: Sql) => Promise<Result>,
  ): Promise<Result> {
    if (this.#isClosing) return Promise.reject(new Error('the server is stopping'))
    const transaction = this.#pools.inTransaction(async (sql) => {
      const text = 'UPDATE orgs SET revision = revision + 1 WHERE id = $1 RETURNING id'
      const held = await sql.rows(text, [uuidOrNull(orgId)])
      if (held.length === 0) throw refusal
      return await work(sql)
    })
    const ended = transaction.then(
      () => this.#announce(),
      () => {},
    )
    this.#running.add(ended)
    void ended.finally(() => this.#running.delete(ended))
    return transaction
  }

  async #drain(orgId: string): Promise<void> {
    // Mutations of the same turn of the event loop share the first batch.
    await Promise.resolve()
    const waiting = this.#waiting.get(orgId) ?? []
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_MAX)
      if (this.#isClosing) settleAll(batch, new Error('the server is stopping'))
      else waiting.unshift(...(await this.#runBatch(orgId, batch)))
    }
    this.#waiting.delete(orgId)
  }

  /**
   * Runs a batch; resolves to the mutations that did not fit into the statement. When the database refuses a value,
   * each mutation runs alone, so that only the faulty one fails.
   */
  async #runBatch(orgId: string, batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    try {
      const outcomes = await this.#outcomesOf(orgId, batch)
      for (const [index, outcome] of outcomes.entries()) batch[index]?.settle(outcome)
      return batch.slice(outcomes.length)
    } catch (error) {
      if (batch.length === 1 || !isOfValues(error)) settleAll(batch, error)
      else for (const mutation of batch) await this.#runBatch(orgId, [mutation])
      return []
    }
  }

  /** The outcomes of the first mutations of `batch`, at least one. */
  async #outcomesOf(orgId: string, batch: readonly Waiting[]): Promise<readonly Outcome[]> {
    // The first has waited longest, perhaps for a batch that the same outage interrupted.
    const retries = new Retries(this.#clocks.monotonicMs, batch[0]?.sinceMs)
    const uncertain: UncertainWrite[] = []
    let conflicts = 0
    for (;;) {
      try {
        const isLocked = conflicts >= CONFLICTS_UNLOCKED
        const attempt = (sql: Sql) => this.#attempt(sql, { orgId, batch, uncertain, isLocked })
        const outcomes = await (isLocked ? this.#pools.inTransaction(attempt) : attempt(this.#pools.write))
        if (outcomes !== undefined) return outcomes
        conflicts += 1
      } catch (error) {
        if (isConflict(error)) conflicts += 1
        else if (!(await retries.shouldRetry(error)))
          throw uncertain.length === 0 ? error : outcomeUnknown(error)
      }
      if (conflicts >= CONFLICTS_MAX) throw new Error('too many other programs change the organisation')
    }
  }

  /** One attempt; `undefined` after a conflict with another program. */
  async #attempt(
    sql: Sql,
    {
      orgId,
      batch,
      uncertain,
      isLocked,
    }: { orgId: string; batch: readonly Waiting[]; uncertain: UncertainWrite[]; isLocked: boolean },
  ): Promise<readonly Outcome[] | undefined> {
    const id = uuidOrNull(orgId)
    if (id === null) return batch.map(() => ({ error: orgNotFound(orgId) }))
    if (isLocked) await sql.rows('SELECT FROM orgs WHERE id = $1 FOR NO KEY UPDATE', [id])
    const state = await readOrg(
      sql,
      id,
      batch.map(({ reads }) => reads),
    )
    if (state === undefined) return batch.map(() => ({ error: orgNotFound(orgId) }))
    // After the read: the guard stops an uncertain write that is executed later.
    const written = await findWritten(sql, id, uncertain)
    if (written !== undefined) return this.#announced(written.outcomes)
    const draft = new Draft(state, this.#clocks.nowMs)
    const outcomes: Outcome[] = []
    for (const { decide } of batch) {
      outcomes.push(outcomeOf(() => decide(draft)))
      if (draft.bytes >= BATCH_BYTES_MAX) break
    }
    if (draft.isEmpty) return outcomes
    const writeId = randomUUID()
    const { text, values } = guardedWrite(draft, writeId)
    // Kept until the response arrives: without one, the write may still have been committed.
    uncertain.push({ writeId, outcomes })
    let row: { readonly written: number } | undefined
    try {
      row = await rowOf<{ written: number }>(sql, text, values)
      if (!isLocked) uncertain.pop()
    } catch (error) {
      if (!isLost(error) || isUnsent(error)) uncertain.pop()
      throw error
    }
    return row?.written === 1 ? this.#announced(outcomes) : undefined
  }

  #announced(outcomes: readonly Outcome[]): readonly Outcome[] {
    // After the transaction, which may end after this turn of the event loop.
    setImmediate(() => this.#announce())
    return outcomes
  }

  #announce(): void {
    for (const listener of this.#listeners) listener()
  }
}

function settleAll(batch: readonly Waiting[], error: unknown): void {
  for (const { settle } of batch) settle({ error })
}

function outcomeOf(decide: () => unknown): Outcome {
  try {
    return { result: decide() }
  } catch (error) {
    return { error }
  }
}

/** The write of `uncertain` that was committed; `undefined` when none was. */
async function findWritten(
  sql: Sql,
  orgId: string,
  uncertain: readonly UncertainWrite[],
): Promise<UncertainWrite | undefined> {
  if (uncertain.length === 0) return undefined
  const row = await rowOf<{ writeId: string }>(
    sql,
    `SELECT write_id AS "writeId" FROM
       (SELECT write_id FROM audit WHERE org_id = $1 ORDER BY seq DESC LIMIT ${ENTRIES_SEARCHED}) newest
     WHERE write_id = ANY($2::uuid[]) LIMIT 1`,
    [orgId, uncertain.map(({ writeId }) => writeId)],
  )
  return uncertain.find(({ writeId }) => writeId === row?.writeId)
}

/** Gap G56. */
function outcomeUnknown(cause: unknown): ApiError {
  return new ApiError(
    'bad_gateway',
    'the connection to the database was lost, and the change may have been made: read before you repeat it',
    { cause },
  )
}
