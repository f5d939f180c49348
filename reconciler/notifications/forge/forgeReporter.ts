import type { ControllerClock } from '../../controller/schedule/clock.ts'
import type {
  ControllerEvent,
  ControllerStatus,
  EventType,
  SetStatus,
} from '../../controller/status/status.ts'
import { retryPauseMs, Unreachable } from '../delivery/outgoing.ts'
import { RetryTimer } from '../delivery/retryTimer.ts'
import { type CommitMark, type CommitState, type Forge, upsertComment } from './forge.ts'
import { ForgeRefused } from './forgeCalls.ts'
import { outcomeComment } from './outcome.ts'
import { type Verdict, verdictOf } from './verdict.ts'

/** How long the first event waits for others of the same run (milliseconds). */
const COALESCE_MS = 1_000
/** Maximum of recorded changes for a comment. */
const MADE_CHANGES_MAX = 2_000
/** Maximum of pull requests of one commit that get a comment. */
const PULL_REQUESTS_MAX = 5

/** Maximum of recorded commits of a set that are still pending. */
const OVERTAKEN_MAX = 20

/** The result of a report: sent, already known, to be retried, or refused by the forge. */
export type ReportResult = 'said' | 'known' | 'retried' | 'refused'

/** One forge that gets the results of commits. */
export interface ForgeReporterOptions {
  /** Name in messages: `github shop/monitoring`. */
  readonly name: string
  /** Creates the forge; `signal` aborts its calls. */
  readonly forgeWith: (signal: AbortSignal) => Forge
  /** Names of the sets; absent for all. */
  readonly sets?: readonly string[] | undefined
  readonly commitStatus: boolean
  readonly comment: boolean
  readonly status: () => ControllerStatus
  readonly clock: ControllerClock
  readonly publicUrl: string | null
  readonly onResult: (result: ReportResult) => void
  readonly onProblem: (message: string) => void
}

/** Facts about the newest commit of a set. */
interface Known {
  readonly sha: string
  /** The last status that was sent; null for none. */
  mark: CommitMark | null
  /** Body of the last comment; null before the first. */
  comment: string | null
  /** The status on the forge when this program first read it; null for none. */
  readonly foundState: CommitState | null
  /** Whether it is the first commit of this process. */
  readonly isFirst: boolean
  /** Whether the commit was applied before this process; null until known. */
  wasSettled: boolean | null
}

/**
 * Reports the results of commits to a forge. After each event of a set the status that the forge should show is compared with
 * the one that it shows, and only a difference is sent. A lost response or an unreachable forge therefore only delays a
 * report, and never a run.
 */
export class ForgeReporter {
  readonly #options: ForgeReporterOptions
  readonly #retryTimer: RetryTimer
  readonly #forge: Forge
  readonly #waiting = new Set<string>()
  readonly #known = new Map<string, Known>()
  readonly #madeChanges = new Map<string, { readonly sha: string; readonly lines: Set<string> }>()
  /** Commits that were superseded while pending, by set. */
  readonly #overtaken = new Map<string, readonly string[]>()
  #working: Promise<void> | null = null
  #lastProblem = ''

  constructor(options: ForgeReporterOptions) {
    this.#options = options
    this.#retryTimer = new RetryTimer(options.clock)
    this.#forge = options.forgeWith(this.#retryTimer.signal)
  }

  /** Records `event`. Returns at once, throws nothing. */
  offer(event: ControllerEvent): void {
    const { set, runId } = event
    const { sets } = this.#options
    // Only runs change a report, and only the leading replica has runs.
    if (set === null || runId === null) return
    if (this.#retryTimer.isClosing || sets?.includes(set) === false) return
    this.#remember(set, event)
    this.#waiting.add(set)
    this.#working ??= this.#work()
  }

  /** Sends pending reports once, for at most a few seconds. */
  close(): Promise<void> {
    return this.#retryTimer.close(this.#working)
  }

  #remember(set: string, { type, commit, message }: ControllerEvent): void {
    if (commit === null || !CHANGE_EVENTS.has(type)) return
    const before = this.#madeChanges.get(set)
    const madeChanges = before?.sha === commit ? before : { sha: commit, lines: new Set<string>() }
    // After a commit is applied, later changes are due to drift.
    const isSettled = this.#known.get(set)?.sha === commit && this.#known.get(set)?.mark?.state === 'success'
    if (!isSettled && madeChanges.lines.size < MADE_CHANGES_MAX) madeChanges.lines.add(message)
    this.#madeChanges.set(set, madeChanges)
  }

  async #work(): Promise<void> {
    await this.#retryTimer.pause(COALESCE_MS)
    for (let attempt = 1; this.#waiting.size > 0; attempt += 1) {
      const pauseMs = await this.#round(attempt)
      if (pauseMs === null) attempt = 0
      else if (this.#retryTimer.isClosing) this.#waiting.clear()
      else await this.#retryTimer.pause(pauseMs)
    }
    this.#working = null
  }

  /** Sends the reports of all queued sets. Returns the pause before a retry; null after success. */
  async #round(attempt: number): Promise<number | null> {
    for (const set of [...this.#waiting]) {
      this.#waiting.delete(set)
      try {
        this.#options.onResult((await this.#report(set)) ? 'said' : 'known')
      } catch (error) {
        this.#complain(error)
        if (!isRetryable(error)) {
          this.#options.onResult('refused')
          continue
        }
        this.#waiting.add(set)
        this.#options.onResult('retried')
        const retryAfterMs = error instanceof ForgeRefused ? error.retryAfterMs : null
        return retryPauseMs(attempt, retryAfterMs, this.#options.clock.random)
      }
    }
    this.#lastProblem = this.#waiting.size === 0 ? this.#lastProblem : ''
    return null
  }

  #complain(error: unknown): void {
    const isForeseen = error instanceof ForgeRefused || error instanceof Unreachable
    // No other error may end the program.
    const reason = isForeseen ? error.message : 'an internal error'
    if (reason === this.#lastProblem) return
    this.#lastProblem = reason
    this.#options.onProblem(`${this.#options.name} did not accept the result of a commit: ${reason}`)
  }

  /** Sends the report of a set; returns whether there was a difference. */
  async #report(name: string): Promise<boolean> {
    const set = this.#options.status().sets.find((one) => one.name === name)
    const verdict = set === undefined ? null : verdictOf(set)
    if (set === undefined || verdict === null) return false
    const known = await this.#knownOf(set, verdict)
    const marked = this.#options.commitStatus && (await this.#mark(set, verdict, known))
    if (marked && verdict.state === 'success') await this.#settleOvertaken(set.name, verdict.sha)
    const commented =
      this.#options.comment && !verdict.isProvisional && (await this.#comment(set, verdict, known))
    return marked || commented
  }

  async #knownOf({ name }: SetStatus, { sha, state, isProvisional }: Verdict): Promise<Known> {
    const known = await this.#lookedUp(name, sha)
    if (!isProvisional)
      known.wasSettled ??=
        known.isFirst && this.#madeChangesOf(name, sha).length === 0 && known.foundState === state
    return known
  }

  async #lookedUp(name: string, sha: string): Promise<Known> {
    const before = this.#known.get(name)
    if (before?.sha === sha) return before
    const mark = this.#options.commitStatus ? await this.#forge.commitMark(sha, contextOf(name)) : null
    if (before?.mark?.state === 'pending') {
      const overtaken = [...(this.#overtaken.get(name) ?? []), before.sha]
      this.#overtaken.set(name, overtaken.slice(-OVERTAKEN_MAX))
    }
    const known: Known = {
      sha,
      mark,
      comment: null,
      foundState: mark?.state ?? null,
      isFirst: before === undefined,
      wasSettled: null,
    }
    this.#known.set(name, known)
    return known
  }

  /** Ends the pending status of superseded commits: their changes are applied as part of the newer commit. */
  async #settleOvertaken(set: string, by: string): Promise<void> {
    const shas = this.#overtaken.get(set) ?? []
    const description = `applied as part of ${by.slice(0, 10)}`
    for (const sha of shas) {
      await this.#forge.markCommit(sha, contextOf(set), { state: 'success', description }, this.#pageOf(set))
      this.#overtaken.set(
        set,
        (this.#overtaken.get(set) ?? []).filter((one) => one !== sha),
      )
    }
  }

  async #mark({ name }: SetStatus, verdict: Verdict, known: Known): Promise<boolean> {
    const { state, description, sha, isProvisional } = verdict
    if (isProvisional && known.mark !== null) return false
    const isSame = known.mark?.state === state
    if (isSame && (state === 'success' || known.mark?.description === description)) return false
    await this.#forge.markCommit(sha, contextOf(name), { state, description }, this.#pageOf(name))
    known.mark = { state, description }
    return !isSame
  }

  async #comment(set: SetStatus, verdict: Verdict, known: Known): Promise<boolean> {
    const { name } = set
    const comment = outcomeComment(set, verdict, this.#madeChangesOf(name, verdict.sha), this.#pageOf(name))
    // Changes of services after a commit was applied do not belong to it.
    const isSettled = verdict.state === 'success' && known.comment?.split('\n')[1] === comment.gist
    if (known.wasSettled === true || isSettled || known.comment === comment.body) return false
    const pullRequests = await this.#forge.pullRequestsOf(verdict.sha)
    let isNew = false
    for (const pullRequest of pullRequests.slice(0, PULL_REQUESTS_MAX)) {
      const keep = known.comment === null && this.#madeChangesOf(name, verdict.sha).length === 0
      isNew = (await upsertComment(this.#forge, pullRequest, comment, keep)) !== 'unchanged' || isNew
    }
    known.comment = comment.body
    return isNew
  }

  #madeChangesOf(set: string, sha: string): readonly string[] {
    const madeChanges = this.#madeChanges.get(set)
    return madeChanges?.sha === sha ? [...madeChanges.lines] : []
  }

  #pageOf(set: string): string | null {
    const { publicUrl } = this.#options
    return publicUrl === null ? null : `${publicUrl.replace(/\/+$/, '')}/sets/${encodeURIComponent(set)}`
  }
}

const CHANGE_EVENTS: ReadonlySet<EventType> = new Set(['ServiceChanged', 'ServiceFailed'])

/** Context of the status of a set. */
function contextOf(set: string): string {
  return `pharos/${set}`
}

function isRetryable(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof ForgeRefused && error.isRetryable)
}
