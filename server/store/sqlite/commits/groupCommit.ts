import type { Database, Statement } from 'better-sqlite3'

/** Maximum number of mutations in one commit: bounds how long the first waits for the last. */
const BATCH_MAX = 256

/** Time limit of the mutations of one commit, without the last one (milliseconds): all others wait meanwhile. */
const BATCH_MS_MAX = 25

/**
 * Maximum number of turns of the event loop for which a commit waits for more mutations: during other computations
 * one takes many milliseconds.
 */
const TURNS_MAX = 4

/** How long a mutation waits for another program's transaction (milliseconds). */
const BUSY_MS_MAX = 5_000
/**
 * Interval between checks for another program's transaction (milliseconds): shorter than the pauses of such programs.
 */
const BUSY_POLL_MS = 5

/** Settles the promise of the caller of a mutation. */
type Settle = () => void

interface Waiting {
  /** Executes the mutation; returns the callback for when it is durable. */
  readonly attempt: () => Settle
  readonly reject: (error: unknown) => void
  /** Rejects it; started when another program's transaction first blocked it. */
  timeout?: NodeJS.Timeout
}

/** Bounds of a group commit; the defaults for absent members. */
interface Bounds {
  /** Maximum number of mutations that share one commit. */
  readonly batchMax?: number | undefined
  /** Time limit of the mutations of one commit (milliseconds); the first one is always included. */
  readonly batchMsMax?: number
  /** How long a mutation waits for another program's transaction (milliseconds). */
  readonly busyMsMax?: number
  readonly disk?: GrowingDisk
  /** Called before each commit. What it throws fails the commit. */
  readonly assertCommittable?: () => void
}

/** Disk space for mutations. */
export interface GrowingDisk {
  /** Throws while only mutations that free space are accepted. */
  readonly assertGrowth: () => void
  /** Frees space on a full disk; returns whether it did. */
  readonly makeRoom: () => boolean
}

const ENDLESS: GrowingDisk = { assertGrowth: () => {}, makeRoom: () => false }

/**
 * Runs mutations in order of arrival. Waiting mutations share one transaction and one flush to disk; one that throws
 * leaves no trace and does not affect the others. No caller gets its result before its own commit is durable.
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
  readonly #disk: GrowingDisk
  readonly #assertCommittable: () => void

  /** `database` must not wait for other programs itself, which would block the whole process. */
  constructor(database: Database, bounds: Bounds = {}) {
    this.#database = database
    this.#batchMax = bounds.batchMax ?? BATCH_MAX
    this.#batchMsMax = bounds.batchMsMax ?? BATCH_MS_MAX
    this.#busyMsMax = bounds.busyMsMax ?? BUSY_MS_MAX
    this.#disk = bounds.disk ?? ENDLESS
    this.#assertCommittable = bounds.assertCommittable ?? (() => {})
    this.#begin = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
    this.#rollback = database.prepare('ROLLBACK')
    this.#save = database.prepare('SAVEPOINT one')
    this.#release = database.prepare('RELEASE one')
    this.#changes = database.prepare<[], number>('SELECT total_changes()').pluck()
    this.#undo = database.prepare('ROLLBACK TO one')
  }

  /**
   * Number of the current mutation: consecutive to that of its predecessor if both are in one transaction and the
   * predecessor succeeded.
   */
  get ordinal(): number {
    return this.#ordinal
  }

  /** For mutations that only use disk space: throws when the disk is full, which undoes their writes. */
  assertGrowth(): void {
    this.#disk.assertGrowth()
  }

  /** Calls `listener` after each commit, before the waiting callers continue. */
  onCommit(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /**
   * Resolves to the result of `work` once it is durable; rejects with its error, or why nothing could be written.
   * `work` may run several times, with earlier writes undone: it must change nothing outside the database.
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

  /** Rejects mutations that wait for another program's transaction, and from now on all that would. */
  rejectWaiting(): void {
    this.#busyMsMax = 0
  }

  /** Resolves when all mutations waiting now are finished. */
  async flush(): Promise<void> {
    if (this.#waiting.length > 0) await this.run(() => {}).catch(() => {})
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#gather(0, TURNS_MAX)
  }

  /**
   * Commits at the first turn of the event loop that adds no mutations to the `known` ones, or at the last of `turns`.
   */
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
        this.#runBatch(batch) ?? this.#upToLimits(batch, (waiting) => this.#runIsolated(waiting))
      this.#assertCommittable()
      this.#commit.run()
      for (const { timeout } of batch.slice(0, settled.length)) clearTimeout(timeout)
      // Mutations beyond the time limit come first in the next commit.
      this.#waiting = [...batch.slice(settled.length), ...this.#waiting]
      for (const settle of settled) settle()
    } catch (error) {
      if (this.#database.inTransaction) this.#rollback.run()
      if (isBusy(error)) this.#putBack(batch, error)
      else if (isFull(error) && this.#disk.makeRoom()) this.#tryAgain(batch)
      else for (const waiting of batch) this.#refuse(waiting, error)
      return
    }
    for (const listener of this.#listeners) listener()
  }

  /** Requeues `batch` after space was freed, for the mutations that free more. */
  #tryAgain(batch: readonly Waiting[]): void {
    this.#waiting = [...batch, ...this.#waiting]
    this.#schedule()
  }

  /** Requeues `batch` before the others, and polls until the other program is done. */
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
    }, BUSY_POLL_MS)
  }

  /**
   * Settles a mutation whose transaction failed with `failure`. It fails too, unless it would have changed nothing: a
   * refusal or an unchanged result is valid without a commit.
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
   * Runs as many of `batch` as the limits allow; `undefined`, with nothing done, when one throws. That is rare, and a
   * savepoint for each costs a copy of every page that it touches.
   */
  #runBatch(batch: readonly Waiting[]): readonly Settle[] | undefined {
    try {
      return this.#upToLimits(batch, ({ attempt }) => attempt())
    } catch (error) {
      this.#assertTransaction(error)
      this.#rollback.run()
      this.#startOver(this.#begin)
      return undefined
    }
  }

  /** Applies `settle` to the first mutations of `batch`, as many as fit into one commit. */
  #upToLimits(batch: readonly Waiting[], settle: (waiting: Waiting) => Settle): readonly Settle[] {
    const endsAtMs = performance.now() + this.#batchMsMax
    const settled: Settle[] = []
    for (const waiting of batch) {
      settled.push(settle(waiting))
      if (performance.now() >= endsAtMs) break
    }
    return settled
  }

  /** Runs one mutation; if it throws, only its own writes are undone. */
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

  /** Begins or undoes a transaction: the facts cached by earlier mutations become invalid. */
  #startOver(statement: Statement): void {
    this.#ordinal += 1
    statement.run()
  }

  /** A full disk ends the whole transaction, with the writes of all its mutations. */
  #assertTransaction(error: unknown): void {
    if (!this.#database.inTransaction) throw error
  }
}

/** Whether the disk was full: the log or the shared memory file could not grow. */
function isFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE'
}

/** Whether another program's transaction blocked the write. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
