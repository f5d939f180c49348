import { parsedUrl } from '../../api/contract/endpointUrl.ts'
import type { EndpointTask, StartedService } from '../protocol/messages.ts'
import { gridOf, slotAfter, slotKey } from '../schedule/grid.ts'
import { Schedule, type Slot } from '../schedule/schedule.ts'
import { type CheckReport, type PrepareCheck, type PreparedCheck, skippedCheck } from './checkReport.ts'
import { type Limit, Limits } from './limits.ts'
import type { PendingResult } from './queuedResult.ts'
import { SUSPECT_HOSTS_MIN, Suspicion } from './suspicion.ts'

/**
 * Maximum number of checks in progress: of an agent, to one host and port, of one organisation, and of one organisation to
 * one host and port. An organisation with slow checks of a host leaves slots for the checks of others.
 */
const IN_FLIGHT_MAX = 512
const HOST_IN_FLIGHT_MAX = 32
const ORG_IN_FLIGHT_MAX = 64
const ORG_HOST_IN_FLIGHT_MAX = 8
/** Maximum wait for a free slot (milliseconds), or half an interval when that is less. */
const WAIT_MS_MAX = 10_000
/** Maximum number of checks that start in one turn of the event loop, so that responses are read in between. */
const STARTS_PER_TURN = 64
/** Maximum sleep (milliseconds), so that a corrected clock is noticed. */
const SLEEP_MS_MAX = 60_000
/** Number of delays from which the load is computed. */
const DELAYS_KEPT = 512
const ALL = 'all'

/** Dependencies of a runner. */
export interface RunnerParts {
  /** The server's clock (milliseconds since the epoch). */
  readonly nowMs: () => number
  readonly prepare: PrepareCheck
  readonly onResult: (result: PendingResult) => void
  /** A monotonic clock (milliseconds). */
  readonly monotonicMs: () => number
  /** Called when the agent starts or stops suspecting its own network. */
  readonly onSuspect: (isSuspect: boolean) => void
  /** Called with the reason of each check that this machine could not run. */
  readonly onLocalFault: (text: string) => void
}

interface Entry {
  readonly task: EndpointTask
  readonly generation: number
  readonly store: string
  readonly intervalMs: number
  readonly grid: ReturnType<typeof gridOf>
  readonly host: string
  readonly org: string
  readonly check: PreparedCheck
  readonly limits: readonly Limit[]
}

/** Starts each check when it is due, within the limits on checks in progress. */
export class Runner {
  readonly #parts: RunnerParts
  readonly #schedule = new Schedule()
  readonly #entries = new Map<number, Entry>()
  /** Number of series of each host. */
  readonly #hosts = new Map<string, number>()
  readonly #limits = new Limits()
  readonly #delaysMs: number[] = []
  readonly #suspicion: Suspicion
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(parts: RunnerParts) {
    this.#parts = parts
    const { monotonicMs, onSuspect } = parts
    this.#suspicion = new Suspicion({
      monotonicMs,
      hasManyHosts: () => this.#hosts.size >= SUSPECT_HOSTS_MIN,
      onChange: onSuspect,
    })
  }

  /** The load to report. */
  get load() {
    const delays = this.#delaysMs.toSorted((a, b) => a - b)
    const lag = delays[Math.floor(delays.length * 0.99)] ?? 0
    return {
      in_flight: this.#limits.held(ALL),
      lag_p99_ms: Math.max(0, lag),
      skipped: this.#schedule.skipped,
      suspect: this.#suspicion.isSuspect,
    }
  }

  /** Starts the checks of `service`, which is in `store`, in `region`. */
  start(region: string, service: StartedService, store: string): void {
    const { generation, interval_s, org, first: isFirst } = service
    for (const task of service.endpoints) {
      const grid = gridOf(task.id, region, interval_s)
      const host = hostOf(task)
      this.#countHost(this.#entries.get(task.series)?.host, -1)
      this.#countHost(host, 1)
      this.#entries.set(task.series, {
        ...{ task, generation, store, grid, intervalMs: grid.intervalMs, host, org },
        check: this.#parts.prepare(task, org),
        limits: limitsOf(task, org, grid.intervalMs),
      })
      this.#schedule.start(task.series, grid, { nowMs: this.#parts.nowMs(), isFirst })
    }
    this.#sleep()
  }

  /** Starts no further checks of `series`. Those in progress end on their own. */
  end(series: readonly number[]): void {
    for (const one of series) {
      this.#countHost(this.#entries.get(one)?.host, -1)
      this.#entries.delete(one)
      this.#schedule.end(one)
    }
  }

  /** Reads the clock again after a correction. */
  wake(): void {
    this.#schedule.followClock(this.#parts.nowMs())
    this.#sleep()
  }

  /** Starts no further checks. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#suspicion.stop()
  }

  #countHost(host: string | undefined, by: 1 | -1): void {
    if (host === undefined) return
    const count = (this.#hosts.get(host) ?? 0) + by
    if (count > 0) this.#hosts.set(host, count)
    else this.#hosts.delete(host)
  }

  #sleep(): void {
    clearTimeout(this.#timer)
    const nextMs = this.#schedule.nextDueMs
    if (nextMs === undefined || this.#isStopped) return
    const delayMs = Math.min(SLEEP_MS_MAX, Math.max(0, nextMs - this.#parts.nowMs()))
    this.#timer = setTimeout(() => this.#startDue(), delayMs)
  }

  #startDue(): void {
    for (const slot of this.#schedule.take(this.#parts.nowMs(), STARTS_PER_TURN)) {
      const entry = this.#entries.get(slot.series)
      if (entry !== undefined) this.#admit(entry, slot)
    }
    this.#sleep()
  }

  /** Starts the check of `slot` once the limits allow it. If that takes too long, reports the check as skipped. */
  #admit(entry: Entry, slot: Slot): void {
    const admittedMs = performance.now()
    let hasStarted = false
    let waitTimer: NodeJS.Timeout | undefined
    const giveUp = this.#limits.take(entry.limits, () => {
      hasStarted = true
      clearTimeout(waitTimer)
      // The series was ended or replaced while it waited. A definition that is gone is not checked.
      if (this.#isStopped || this.#entries.get(slot.series) !== entry)
        return this.#limits.release(entry.limits)
      void this.#run(entry, { ...slot, lateMs: slot.lateMs + performance.now() - admittedMs })
    })
    if (hasStarted) return
    waitTimer = setTimeout(
      () => {
        giveUp()
        this.#report(
          entry,
          slot,
          skippedCheck('agent_busy', 'not checked: the agent had too many checks under way'),
        )
      },
      Math.min(entry.intervalMs / 2, WAIT_MS_MAX),
    )
  }

  async #run(entry: Entry, slot: Slot): Promise<void> {
    this.#delaysMs.push(slot.lateMs)
    if (this.#delaysMs.length > DELAYS_KEPT) this.#delaysMs.shift()
    const nowMs = this.#parts.nowMs()
    const nextDueMs = slotAfter(entry.grid, Math.max(nowMs, slot.dueMs)) - nowMs
    const count = Math.floor(slot.dueMs / entry.intervalMs)
    const begun = this.#suspicion.begin(entry)
    try {
      const found = await entry.check.run({ slot: count, nextDueMs }).catch(failedCheck)
      this.#suspicion.end(begun, found, (report) => this.#report(entry, slot, report))
    } finally {
      this.#limits.release(entry.limits)
    }
  }

  #report({ generation, store }: Entry, { series, dueMs, lateMs }: Slot, report: CheckReport): void {
    if (report.reason === 'agent_local' && report.detail !== null)
      this.#parts.onLocalFault(report.detail.text)
    this.#parts.onResult({ series, generation, store, dueS: slotKey(dueMs), lateMs, report })
  }
}

/** The report of a check that rejected. Unhandled, its error would end the agent, and with it the checks of others. */
function failedCheck(error: unknown): CheckReport {
  // Its message may contain a secret.
  const name = error instanceof Error ? error.name : 'unknown error'
  return skippedCheck('agent_local', `not checked: the agent could not run the check (${name})`)
}

function hostOf({ url }: EndpointTask): string {
  return parsedUrl(url)?.hostname ?? url
}

/**
 * The limits that a check of `task` counts towards. Checks of a series overlap when the timeout is longer than the
 * interval.
 */
function limitsOf({ series, url, call }: EndpointTask, org: string, intervalMs: number): readonly Limit[] {
  const host = parsedUrl(url)?.origin ?? url
  return [
    { key: `series ${series}`, max: Math.ceil(call.timeout_ms / intervalMs) },
    { key: `org ${org} host ${host}`, max: ORG_HOST_IN_FLIGHT_MAX },
    { key: `host ${host}`, max: HOST_IN_FLIGHT_MAX },
    { key: `org ${org}`, max: ORG_IN_FLIGHT_MAX },
    { key: ALL, max: IN_FLIGHT_MAX },
  ]
}
