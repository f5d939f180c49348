import type { Database } from 'better-sqlite3'

/** Most mutations that share one commit: bounds how long the first of them waits for the last. */
const BATCH_MAX = 256

interface Waiting {
  readonly run: () => void
  readonly settle: (commitError: unknown) => void
}

/**
 * Runs mutations in the order in which they came. Those that wait together share one transaction and so one
 * flush to disk; each has a savepoint of its own, so that one that throws leaves nothing behind and takes no
 * other with it. Nothing is answered before its own commit is durable.
 */
export class GroupCommit {
  readonly #database: Database
  readonly #begin
  readonly #commit
  readonly #rollback
  readonly #save
  readonly #release
  readonly #undo
  #waiting: Waiting[] = []
  #isScheduled = false
  readonly #listeners: (() => void)[] = []

  constructor(database: Database) {
    this.#database = database
    this.#begin = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
    this.#rollback = database.prepare('ROLLBACK')
    this.#save = database.prepare('SAVEPOINT one')
    this.#release = database.prepare('RELEASE one')
    this.#undo = database.prepare('ROLLBACK TO one')
  }

  /** Calls `listener` after each commit, before anybody who waits for it goes on. */
  onCommit(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Resolves to what `work` returns once that is durable; rejects with what it throws, or why nothing could be written. */
  run<Result>(work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      let settleWork: () => void = () => {}
      this.#waiting.push({
        run: () => {
          settleWork = this.#attempt(work, resolve, reject)
        },
        settle: (commitError) => {
          if (commitError === undefined) settleWork()
          else reject(commitError)
        },
      })
      this.#schedule()
    })
  }

  /** Commits everything that waits, now. */
  flush(): void {
    while (this.#waiting.length > 0) this.#commitBatch(this.#waiting.splice(0, BATCH_MAX))
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    // After the input that is there now has been read: its mutations join this commit.
    setImmediate(() => {
      this.#isScheduled = false
      this.#commitBatch(this.#waiting.splice(0, BATCH_MAX))
      if (this.#waiting.length > 0) this.#schedule()
    })
  }

  #attempt<Result>(
    work: () => Result,
    resolve: (result: Result) => void,
    reject: (error: unknown) => void,
  ): () => void {
    this.#save.run()
    try {
      const result = work()
      this.#release.run()
      return () => resolve(result)
    } catch (error) {
      // A full disk ends the whole transaction, and the savepoint with it.
      if (!this.#database.inTransaction) throw error
      this.#undo.run()
      this.#release.run()
      return () => reject(error)
    }
  }

  #commitBatch(batch: readonly Waiting[]): void {
    if (batch.length === 0) return
    let failure: unknown
    try {
      this.#begin.run()
      for (const waiting of batch) waiting.run()
      this.#commit.run()
    } catch (error) {
      failure = error
      if (this.#database.inTransaction) this.#rollback.run()
    }
    for (const waiting of batch) waiting.settle(failure)
    if (failure === undefined) for (const listener of this.#listeners) listener()
  }
}
