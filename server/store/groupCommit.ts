import type { Database } from 'better-sqlite3'

/** Most mutations that share one commit: bounds how long the first of them waits for the last. */
const BATCH_MAX = 256

/** Most turns of the event loop that a commit waits for more: while others compute, one takes many milliseconds. */
const TURNS_MAX = 4

/** Answers whoever waits for a mutation. */
type Settle = () => void

interface Waiting {
  /** Does the work, and gives what to do once it is durable. */
  readonly attempt: () => Settle
  readonly reject: (error: unknown) => void
}

/** What runs a mutation, and resolves when it is durable. */
export type Mutations = Pick<GroupCommit, 'run'>

/**
 * Runs mutations in the order in which they came. Those that wait together share one transaction and so one
 * flush to disk; one that throws leaves nothing behind and takes no other with it. Nothing is answered before
 * its own commit is durable.
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

  /**
   * Resolves to what `work` returns once that is durable; rejects with what it throws, or why nothing could be
   * written. `work` may be run twice, what it wrote first being undone: outside the database it changes nothing.
   */
  run<Result>(work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const attempt = (): Settle => {
        const result = work()
        return () => resolve(result)
      }
      this.#waiting.push({ attempt, reject })
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
    this.#gather(0, TURNS_MAX)
  }

  /** Commits at the first turn of the event loop that brings no more mutations than the `known` ones, or is the last of `turns`. */
  #gather(known: number, turns: number): void {
    setImmediate(() => {
      const found = this.#waiting.length
      if (found > known && found < BATCH_MAX && turns > 1) {
        this.#gather(found, turns - 1)
        return
      }
      this.#isScheduled = false
      this.#commitBatch(this.#waiting.splice(0, BATCH_MAX))
      if (this.#waiting.length > 0) this.#schedule()
    })
  }

  #commitBatch(batch: readonly Waiting[]): void {
    if (batch.length === 0) return
    try {
      this.#begin.run()
      const settled = this.#together(batch) ?? batch.map((waiting) => this.#apart(waiting))
      this.#commit.run()
      for (const settle of settled) settle()
    } catch (error) {
      if (this.#database.inTransaction) this.#rollback.run()
      for (const { reject } of batch) reject(error)
      return
    }
    for (const listener of this.#listeners) listener()
  }

  /**
   * All of `batch`; `undefined`, and nothing done, when one throws. That is rare, and a savepoint for each costs
   * a copy of every page that it touches.
   */
  #together(batch: readonly Waiting[]): readonly Settle[] | undefined {
    try {
      return batch.map(({ attempt }) => attempt())
    } catch (error) {
      this.#assertTransaction(error)
      this.#rollback.run()
      this.#begin.run()
      return undefined
    }
  }

  /** One mutation that is undone, and alone, when it throws. */
  #apart({ attempt, reject }: Waiting): Settle {
    this.#save.run()
    try {
      const settle = attempt()
      this.#release.run()
      return settle
    } catch (error) {
      this.#assertTransaction(error)
      this.#undo.run()
      this.#release.run()
      return () => reject(error)
    }
  }

  /** A full disk ends the whole transaction, and with it what any other has done in it. */
  #assertTransaction(error: unknown): void {
    if (!this.#database.inTransaction) throw error
  }
}
