import { releasedKeys } from '../../plan/safetyLimits.ts'
import type { SetSettings } from '../config/settings.ts'
import { windowStateAt } from '../schedule/window.ts'
import { type CycleReport, withoutServices } from '../set/cycleReport.ts'
import type { LoopFacts } from '../set/loopFacts.ts'
import { headlineOf } from '../status/conditions.ts'
import { SERVICE_STATES } from '../status/labels.ts'
import type {
  CommitStatus,
  Condition,
  ControllerEvent,
  PendingApproval,
  RunStatus,
  ServiceState,
  ServiceStatus,
  SetStatus,
} from '../status/status.ts'
import { conditionsOf, withAges } from './conditionsOf.ts'
import { eventOf, eventsOfConditions, eventsOfReport, type NewEvent } from './eventsOf.ts'
import { servicesOf } from './servicesOf.ts'
import { unverifiableSecrets } from './unverifiableSecrets.ts'

/** Time between two reminders of a suspension (milliseconds). */
const REMIND_AFTER_MS = 24 * 3_600_000

/** The status and the events of one set, derived from its last cycle. */
export class SetView {
  readonly #settings: SetSettings
  readonly #facts: () => LoopFacts
  readonly #wallMs: () => number
  #services: readonly ServiceStatus[] = []
  #unverifiableSecrets = 0
  #conditions: readonly Condition[] = []
  #announced: readonly Condition[] = []
  #before: CycleReport | null = null
  #commit: CommitStatus | null = null
  #appliedCommit: string | null = null
  /** Time of the first suspension or the last reminder (wall clock, milliseconds). */
  #remindedAtMs: number | null = null

  constructor(settings: SetSettings, facts: () => LoopFacts, wallMs: () => number) {
    this.#settings = settings
    this.#facts = facts
    this.#wallMs = wallMs
  }

  /** Records the commit of a cycle. Returns its event; none if the commit was known. */
  see(commit: CommitStatus, runId: string): readonly ControllerEvent[] {
    const { sha, subject } = commit
    if (this.#commit?.sha === sha) return []
    this.#commit = commitStatusOf(commit)
    const event: NewEvent = { type: 'CommitSeen', severity: 'info', message: `commit ${sha}: ${subject}` }
    return this.#complete([event], sha, runId)
  }

  /** Records the report of a cycle; returns its events. */
  take(report: CycleReport): readonly ControllerEvent[] {
    const { applied, source } = report
    const frozen = source?.accepted?.set.frozenKeys ?? []
    if (applied !== null) {
      this.#services = servicesOf(applied, frozen)
      this.#unverifiableSecrets = unverifiableSecrets(applied.planResult.services)
    }
    const commit = source?.accepted?.loaded.commit.sha ?? null
    if (report.outcome === 'converged') this.#appliedCommit = commit
    const events = [...eventsOfReport(report, this.#before), ...this.#conditionEvents(), ...this.#reminders()]
    this.#before = withoutServices(report)
    return this.#complete(events, commit, report.runId)
  }

  /** The events of conditions that changed without a cycle. */
  refresh(): readonly ControllerEvent[] {
    return this.#complete(this.#conditionEvents(), null, null)
  }

  #complete(
    events: readonly NewEvent[],
    commit: string | null,
    runId: string | null,
  ): readonly ControllerEvent[] {
    const context = { at: this.#now(), set: this.#settings.config.name, commit, runId }
    return events.map((event) => eventOf(event, context))
  }

  /** The current status. A follower has no commits, runs and services: what it found as the leader may be outdated. */
  status(): SetStatus {
    const facts = this.#facts()
    const { running, nextRunAtMs } = facts
    const isLed = facts.role !== 'follower'
    const report = isLed ? facts.report : null
    const services = isLed ? this.#services : []
    const { config, apiUrl } = this.#settings
    const { url, branch, path } = config.repository
    const window = windowStateAt(config.windows, this.#wallMs())
    const conditions = this.#refreshed()
    return {
      name: config.name,
      source: { repository: url, branch, path, environment: config.environment ?? null },
      apiUrl,
      role: facts.role,
      leaseHolder: facts.leaseHolder,
      headline: headlineOf(conditions),
      conditions,
      commit: isLed ? this.#commit : null,
      refusedCommit: commitStatusOf(report?.source?.refused?.commit),
      appliedCommit: isLed ? this.#appliedCommit : null,
      running,
      lastRun: report === null ? null : runStatusOf(report),
      nextRunAt: nextRunAtMs === null ? null : iso(nextRunAtMs),
      services,
      counts: countsOf(services),
      unverifiableSecrets: isLed ? this.#unverifiableSecrets : 0,
      approvals: facts.wait === null ? approvalsOf(report) : [],
      problems: (report?.source?.accepted?.set.problems ?? []).map(({ hint = null, ...problem }) => ({
        ...problem,
        hint,
      })),
      suspensions: facts.suspensions,
      window: {
        isOpen: window.isOpen,
        reason: window.reason,
        changesAt: window.changesAtMs === null ? null : iso(window.changesAtMs),
      },
    }
  }

  #refreshed(): readonly Condition[] {
    const facts = this.#facts()
    const found = conditionsOf({ ...facts, services: this.#services })
    this.#conditions = withAges(found, this.#conditions, this.#now())
    return this.#conditions
  }

  #conditionEvents(): readonly NewEvent[] {
    const now = this.#refreshed()
    const events = eventsOfConditions(now, this.#announced)
    this.#announced = now
    return events
  }

  /** The events that remind people of suspensions, once a day; empty when none is due. */
  #reminders(): readonly NewEvent[] {
    const { suspensions } = this.#facts()
    const nowMs = this.#wallMs()
    if (suspensions.length === 0) this.#remindedAtMs = null
    else this.#remindedAtMs ??= nowMs
    if (this.#remindedAtMs === null || nowMs - this.#remindedAtMs < REMIND_AFTER_MS) return []
    this.#remindedAtMs = nowMs
    return suspensions.map(({ scope, reason, actor, since }) => ({
      type: 'SuspensionReminder',
      severity: 'warning',
      message: `${scope === '*' ? 'the set' : scope} has been suspended since ${since} by ${actor}: ${reason}`,
      todo: 'resume it when the reason no longer applies',
    }))
  }

  #now(): string {
    return iso(this.#wallMs())
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

function commitStatusOf(commit: CommitStatus | undefined): CommitStatus | null {
  if (commit === undefined) return null
  const { sha, subject, author, at } = commit
  return { sha, subject, author, at }
}

function runStatusOf(report: CycleReport): RunStatus {
  const { runId, trigger, startedAtMs, finishedAtMs, outcome, counts, requests, source } = report
  const commit = source?.accepted?.loaded.commit.sha ?? null
  return {
    runId,
    trigger,
    commit,
    startedAt: iso(startedAtMs),
    finishedAt: iso(finishedAtMs),
    outcome,
    counts,
    requests,
  }
}

function countsOf(services: readonly ServiceStatus[]): SetStatus['counts'] {
  // True because it has exactly the states as keys.
  const counts = Object.fromEntries(SERVICE_STATES.map((state) => [state, 0])) as Record<ServiceState, number>
  for (const { state } of services) counts[state] += 1
  return counts
}

function approvalsOf(report: CycleReport | null): readonly PendingApproval[] {
  const planResult = report?.applied?.planResult
  if (planResult?.digest == null) return []
  const { tripped, withheld } = planResult.limited
  const released = releasedKeys(planResult.limited)
  const approvable = tripped.filter(
    (limit) => limit.approvable && limit.keys.some((key) => released.has(key)),
  )
  if (approvable.length === 0) return []
  const held = new Set(approvable.flatMap(({ keys }) => keys))
  return [
    {
      digest: planResult.digest,
      brakes: approvable.map(({ brake, message }) => ({ brake, message })),
      changes: withheld
        .filter(({ key }) => held.has(key))
        .map((change) => `${change.kind === 'prune' ? change.how : change.kind} ${change.key}`),
    },
  ]
}
