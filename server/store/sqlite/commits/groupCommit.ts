import type { Database, Statement } from 'better-sqlite3'

/** Most mutations that share one commit: bounds how long the first of them waits for the last. */
const BATCH_MAX = 256

/** How long the mutations of one commit may take together, the last one aside (milliseconds): all others wait meanwhile. */
const BATCH_MS_MAX = 25

/** Most turns of the event loop that a commit waits for more: while others compute, one takes many milliseconds. */
const TURNS_MAX = 4

/** How long a mutation waits for another program's transaction (milliseconds). */
const BUSY_MS_MAX = 5_000
/** Pause before another program's transaction is looked at again (milliseconds): shorter than those that programs make. */
const BUSY_LOOK_MS = 5

/** Answers the caller of a mutation. */
type Settle = () => void

interface Waiting {
  /** Does the work, and gives what to do once it is durable. */
  readonly attempt: () => Settle
  readonly reject: (error: unknown) => void
  /** Gives it up; running since another program's transaction was first in its way. */
  timeout?: NodeJS.Timeout
}

/** Bounds of a group commit; the defaults for absent members. */
interface Bounds {
  /** Most mutations that share one commit. */
  readonly batchMax?: number | undefined
  /** How long the mutations of one commit may take together (milliseconds); the first one is always part of it. */
  readonly batchMsMax?: number
  /** How long a mutation waits for another program's transaction (milliseconds). */
  readonly busyMsMax?: number
  readonly room?: Room
}

/** The room that mutations take on the disk. */
export interface Room {
  /** Throws while only what frees room is taken. */
  readonly assertGrowth: () => void
  /** Makes room on a full disk; whether it made any. */
  readonly makeRoom: () => boolean
}

const ENDLESS: Room = { assertGrowth: () => {}, makeRoom: () => false }

/** Runs a mutation, and resolves when it is durable. */
export type Mutations = Pick<GroupCommit, 'run'>

/**
 * Runs mutations in the order in which they came. Those that wait together share one transaction and so one
 * flush to disk; one that throws leaves nothing behind and takes no other with it. Nothing is answered before
 * its own commit is durable.
 */
export class GroupCommit {
  readonly #database: Database
  readonly #batchMax: number
  readonly #batchMsMax: number
  readonly #begin
  readonly #commit
  readonly #rollback
  readonly #save
  readonly #release
  readonly #undo
  readonly #changes
  #waiting: Waiting[] = []
  #isScheduled = false
  #ordinal = 0
  readonly #listeners: (() => void)[] = []
  #busyMsMax: number
  readonly #room: Room

  /** `database` must not wait for other programs itself, which would keep the whole process waiting. */
  constructor(database: Database, bounds: Bounds = {}) {
    this.#database = database
    this.#batchMax = bounds.batchMax ?? BATCH_MAX
    this.#batchMsMax = bounds.batchMsMax ?? BATCH_MS_MAX
    this.#busyMsMax = bounds.busyMsMax ?? BUSY_MS_MAX
    this.#room = bounds.room ?? ENDLESS
    this.#begin = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
    this.#rollback = database.prepare('ROLLBACK')
    this.#save = database.prepare('SAVEPOINT one')
    this.#release = database.prepare('RELEASE one')
    this.#changes = database.prepare<[], number>('SELECT total_changes()').pluck()
    this.#undo = database.prepare('ROLLBACK TO one')
  }

  /**
   * Number of the mutation that is at work: one more than that of the one before it, if that is part of the same
   * transaction and what it wrote stands.
   */
  get ordinal(): number {
    return this.#ordinal
  }

  /** For mutations that take room on the disk and free none: throws, what they wrote being undone, when it is full. */
  assertGrowth(): void {
    this.#room.assertGrowth()
  }

  /** Calls `listener` after each commit, before the callers that wait for it go on. */
  onCommit(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /**
   * Resolves to what `work` returns once that is durable; rejects with what it throws, or why nothing could be
   * written. `work` may be run several times, what it wrote before being undone: outside the database it changes nothing.
   */
  run<Result>(work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const attempt = (): Settle => {
        this.#ordinal += 1
        const result = work()
        return () => resolve(result)
      }
      this.#waiting.push({ attempt, reject })
      this.#schedule()
    })
  }

  /** From now on nothing waits for another program's transaction: what does so, or would, is rejected. */
  waitNoMore(): void {
    this.#busyMsMax = 0
  }

  /** Resolves when nothing that waits now does so any more. */
  async flush(): Promise<void> {
    if (this.#waiting.length > 0) await this.run(() => {}).catch(() => {})
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#gather(0, TURNS_MAX)
  }

  /** Commits at the first turn of the event loop that brings no more mutations than the `known` ones, or is the last of `turns`. */
  #gather(known: number, turns: number): void {
    setImmediate(() => {
      const found = this.#waiting.length
      if (found > known && found < this.#batchMax && turns > 1) {
        this.#gather(found, turns - 1)
        return
      }
      this.#isScheduled = false
      this.#commitBatch(this.#waiting.splice(0, this.#batchMax))
      if (this.#waiting.length > 0) this.#schedule()
    })
  }

  #commitBatch(batch: readonly Waiting[]): void {
    if (batch.length === 0) return
    try {
      this.#startOver(this.#begin)
      const settled =
        this.#runBatch(batch) ?? this.#asManyAsMay(batch, (waiting) => this.#runIsolated(waiting))
      this.#commit.run()
      for (const { timeout } of batch.slice(0, settled.length)) clearTimeout(timeout)
      // Those that took too long to be part of it are the first of the next one.
      this.#waiting = [...batch.slice(settled.length), ...this.#waiting]
      for (const settle of settled) settle()
    } catch (error) {
      if (this.#database.inTransaction) this.#rollback.run()
      if (isBusy(error)) this.#putBack(batch, error)
      else if (isFull(error) && this.#room.makeRoom()) this.#tryAgain(batch)
      else for (const waiting of batch) this.#refuse(waiting, error)
      return
    }
    for (const listener of this.#listeners) listener()
  }

  /** Puts `batch` back in its place: room was made for those that free some. */
  #tryAgain(batch: readonly Waiting[]): void {
    this.#waiting = [...batch, ...this.#waiting]
    this.#schedule()
  }

  /** Puts `batch` back in its place before the others, and looks again soon whether the other program is done. */
  #putBack(batch: readonly Waiting[], error: unknown): void {
    if (this.#busyMsMax === 0) {
      for (const { timeout, reject } of batch) {
        clearTimeout(timeout)
        reject(error)
      }
      return
    }
    this.#waiting = [...batch, ...this.#waiting]
    for (const waiting of this.#waiting) {
      waiting.timeout ??= setTimeout(() => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting)
        waiting.reject(error)
      }, this.#busyMsMax)
    }
    this.#isScheduled = true
    setTimeout(() => {
      this.#isScheduled = false
      this.#schedule()
    }, BUSY_LOOK_MS)
  }

  /**
   * Answers a mutation whose transaction was given up for `failure`, and which is so too unless it would have changed
   * nothing: what it is refused for, or finds as it wants it, holds without a commit.
   */
  #refuse({ attempt, reject, timeout }: Waiting, failure: unknown): void {
    clearTimeout(timeout)
    let settle = (): void => reject(failure)
    try {
      this.#startOver(this.#begin)
      const before = this.#changes.get()
      const settleAlone = attempt()
      if (this.#changes.get() === before) settle = settleAlone
    } catch (error) {
      settle = () => reject(error)
    }
    if (this.#database.inTransaction) this.#rollback.run()
    settle()
  }

  /**
   * As many of `batch` as may be; `undefined`, and nothing done, when one throws. That is rare, and a savepoint for each costs
   * a copy of every page that it touches.
   */
  #runBatch(batch: readonly Waiting[]): readonly Settle[] | undefined {
    try {
      return this.#asManyAsMay(batch, ({ attempt }) => attempt())
    } catch (error) {
      this.#assertTransaction(error)
      this.#rollback.run()
      this.#startOver(this.#begin)
      return undefined
    }
  }

  /** What `settle` makes of the first of `batch`, as many as may be part of one commit. */
  #asManyAsMay(batch: readonly Waiting[], settle: (waiting: Waiting) => Settle): readonly Settle[] {
    const endsAtMs = performance.now() + this.#batchMsMax
    const settled: Settle[] = []
    for (const waiting of batch) {
      settled.push(settle(waiting))
      if (performance.now() >= endsAtMs) break
    }
    return settled
  }

  /** One mutation that is undone, and alone, when it throws. */
  #runIsolated({ attempt, reject }: Waiting): Settle {
    this.#save.run()
    try {
      const settle = attempt()
      this.#release.run()
      return settle
    } catch (error) {
      this.#assertTransaction(error)
      this.#startOver(this.#undo)
      this.#release.run()
      return () => reject(error)
    }
  }

  /** Runs what begins or undoes something: what earlier mutations know holds no longer. */
  #startOver(statement: Statement): void {
    this.#ordinal += 1
    statement.run()
  }

  /** A full disk ends the whole transaction, and with it what any other has done in it. */
  #assertTransaction(error: unknown): void {
    if (!this.#database.inTransaction) throw error
  }
}

/** Whether the disk was: the log, or the memory that programs share beside it, could not grow. */
function isFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE'
}

/** Whether another program's transaction was in the way. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
