import { ApiError } from '../../../api/contract/apiError.ts'
import { eventsOfApplied } from '../../apply/appliedEvents.ts'
import { type Applied, applySet } from '../../apply/applySet.ts'
import { guardOrg } from '../../apply/situation.ts'
import { sourceName } from '../../plan/sourceName.ts'
import { countsOfApplied } from '../../render/appliedText.ts'
import { EVENTS_KEPT, RUNS_KEPT } from '../../state/model/record.ts'
import { outcomeOfExit } from '../../state/model/runOutcome.ts'
import { StateError } from '../../state/model/stateError.ts'
import { type WindowState, windowStateAt } from '../schedule/window.ts'
import type { CommitStatus, RunOutcome, Trigger } from '../status/status.ts'
import { exitCodeFor, type Found, outcomeFor, type StopReason } from './cycleOutcome.ts'
import { holdsOf } from './holds.ts'
import { readSource, type SourceLook } from './readSource.ts'
import { type Accepted, Ending, type SetContext, type SetMemory } from './setContext.ts'
import { type HandedOver, handOver } from './transfer.ts'

/** How long an organisation that passed its guard counts as the same (milliseconds). */
const ORG_MS = 3_600_000

/** How a cycle is watched and stopped. */
export interface CycleControl {
  /** Why no further change may start; null while it may. */
  readonly stopReason: () => StopReason
  /** Hears which commit is the newest, also one that may not or cannot be applied. */
  readonly onHead: (sha: string) => void
  readonly onPhase: (phase: 'fetching' | 'planning' | 'applying', commit: string | null) => void
  /** Hears which commit the cycle works on, before it does anything about it. */
  readonly onCommit: (commit: CommitStatus, runId: string) => void
  readonly onProgress: (done: number, total: number) => void
  /** Resolves after `delayMs`, or as soon as no further change may start. */
  readonly sleep: (delayMs: number) => Promise<void>
  /** Ends a fetch on its way. */
  readonly signal: AbortSignal
}

/** Everything that a cycle found and did. */
export interface CycleReport {
  readonly memory: SetMemory
  readonly runId: string
  readonly trigger: Trigger
  readonly startedAtMs: number
  readonly finishedAtMs: number
  readonly source: SourceLook | null
  readonly window: WindowState
  /** What was planned and done; null when the cycle did not come that far. */
  readonly applied: Applied | null
  readonly handedOver: readonly HandedOver[]
  /** Why it did not; undefined when nothing went wrong. */
  readonly error: unknown
  readonly outcome: RunOutcome
  /** As `pharos apply` would have ended. */
  readonly exitCode: number
  readonly counts: Readonly<Record<string, number>>
  readonly requests: number
}

/**
 * One cycle: fetch, compile, plan, brakes, apply, write down. A cycle that finds nothing to do costs one
 * request. Whatever goes wrong is in the report; only a fault of the program is thrown.
 */
export async function runCycle(
  context: SetContext,
  memory: SetMemory,
  trigger: Trigger,
  control: CycleControl,
): Promise<CycleReport> {
  const { clock, settings, newId, requests } = context
  const startedAtMs = clock.wallMs()
  const before = requests()
  const window = windowStateAt(settings.config.windows, startedAtMs)
  const runId = newId()
  const found: { -readonly [Part in keyof Found]: Found[Part] } = {
    source: null,
    applied: null,
    handedOver: [],
    memory,
    error: undefined,
  }
  try {
    control.onPhase('fetching', null)
    found.source = await readSource(context, memory, control.signal)
    const { accepted, baseline, head } = found.source
    if (head !== null) control.onHead(head)
    found.memory = { ...memory, accepted, baseline }
    if (accepted !== null && control.stopReason() === null) {
      control.onPhase('planning', accepted.loaded.commit.sha)
      control.onCommit(accepted.loaded.commit, runId)
      found.memory = await withOrg(context, found.memory)
      found.handedOver = await handedOver(context, found.source, { runId, window })
      found.applied = await applied(
        context,
        { memory: found.memory, accepted, source: found.source, runId, window },
        control,
      )
      found.error = found.applied.endedBy
    }
  } catch (error) {
    found.error = error
  }
  // That it ended so is its outcome, and nothing that went wrong.
  if (found.error instanceof Ending) found.error = undefined
  if (found.applied !== null) context.claims.settle(settings.config.name, servicesHad(found.applied))
  const exitCode = exitCodeFor(found, control.stopReason())
  const outcome = outcomeFor(exitCode, found, control.stopReason())
  const counts = found.applied === null ? {} : countsOfApplied(found.applied)
  const report = {
    ...found,
    runId,
    trigger,
    startedAtMs,
    finishedAtMs: clock.wallMs(),
    window,
    outcome,
    exitCode,
    counts,
    requests: requests() - before,
  }
  return { ...report, memory: await writtenDown(context, report) }
}

/** Services that a set has after `applied`, and those that it is about to have. Pure. */
function servicesHad({ situation, outcomes }: Applied): ReadonlySet<string> {
  const had = new Set([...situation.bindings.values()].map(({ serviceId }) => serviceId))
  for (const change of situation.plan.changes) if ('id' in change) had.add(change.id)
  for (const { change, result, serviceId } of outcomes) {
    const isGone = change.kind === 'prune' && change.how !== 'pause' && result === 'done'
    if (isGone) had.delete(change.id)
    else if (serviceId !== null) had.add(serviceId)
  }
  return had
}

/** `report` without the lists of all services: what is kept until the next cycle need not hold them. Pure. */
export function lean(report: CycleReport): CycleReport {
  if (report.applied === null) return report
  const none = { services: [], bindings: new Map(), desired: new Map(), declared: new Map() }
  const situation = { ...report.applied.situation, ...none }
  return { ...report, applied: { ...report.applied, situation } }
}

/** What is handed over to other sets; nothing while it is in doubt what the manifests say, or nothing may change. */
async function handedOver(
  context: SetContext,
  { accepted, sourceProblem, isRewritten }: SourceLook,
  { runId, window }: { readonly runId: string; readonly window: WindowState },
): Promise<readonly HandedOver[]> {
  const { claims, store, settings } = context
  const set = accepted?.set
  const isSure = accepted?.loaded.exists === true && set?.problems.length === 0 && sourceProblem === null
  if (set === undefined || !isSure || isRewritten) return []
  claims.want(settings.config.name, new Set(set.services.flatMap(({ id }) => id ?? [])))
  if (!window.isOpen || claims.wantedFrom(settings.config.name).size === 0) return []
  const nowMs = context.clock.wallMs()
  const suspensions = await store.suspensions()
  const isSuspended = suspensions.some(({ until }) => until === null || Date.parse(until) > nowMs)
  return isSuspended ? [] : handOver(context, set, runId)
}

/** Guards the organisation anew once an hour, at the start, and after anything odd. */
async function withOrg(context: SetContext, memory: SetMemory): Promise<SetMemory> {
  const { clock, client, store, settings } = context
  if (memory.org !== null && clock.nowMs() - memory.org.atMs < ORG_MS) return memory
  const org = await guardOrg({ client, store, url: settings.apiUrl })
  return { ...memory, org: { org, atMs: clock.nowMs() } }
}

interface ApplyWish {
  readonly memory: SetMemory
  readonly accepted: Accepted
  readonly source: SourceLook
  readonly runId: string
  readonly window: WindowState
}

async function applied(context: SetContext, wish: ApplyWish, control: CycleControl): Promise<Applied> {
  const { client, store, stateKey, settings, clock, newId } = context
  const { config } = settings
  const { loaded, set } = wish.accepted
  await noteApprovals(context, loaded.commit)
  const { sourceProblem, isRewritten } = wish.source
  const holdFacts = {
    sourceProblem,
    isRewritten,
    window: wish.window,
    prune: config.prune,
    otherOwner: (id: string) => context.claims.claim(config.name, id),
  }
  const mayOverrun = config.overrun
  const { path } = config.repository
  return applySet({
    client,
    store,
    stateKey,
    url: settings.apiUrl,
    set,
    sourceExists: loaded.exists,
    sourceName: sourceName(
      path === '.' ? config.name : (path.replace(/\/+$/, '').split('/').at(-1) ?? path),
      config.environment,
    ),
    regions: 'looked-up',
    createGraceMs: config.createGrace,
    nowMs: clock.wallMs,
    brakes: config.brakes,
    holds: (plan) => {
      control.onPhase('applying', loaded.commit.sha)
      return holdsOf(plan, holdFacts)
    },
    org: wish.memory.org?.org,
    runId: wish.runId,
    newId,
    approved: undefined,
    control: {
      isStopping: () =>
        control.stopReason() !== null ||
        (!mayOverrun && !windowStateAt(config.windows, clock.wallMs()).isOpen),
      isLost: () => control.stopReason() === 'lease-lost',
      onProgress: ({ done, total }) => control.onProgress(done, total),
    },
    sleep: control.sleep,
    onWait: () => {},
  })
}

/** Who writes `Pharos-Approve: DIGEST` below a commit message approves what has that digest, once. */
async function noteApprovals(
  { store, clock, settings }: SetContext,
  commit: Accepted['loaded']['commit'],
): Promise<void> {
  if (commit.approvals.length === 0) return
  // Every run of ours that is written down began with this, and those of the head are among the newest.
  const command = commandOf(settings)
  const runs = await store.runs(RUNS_KEPT)
  if (runs.some((run) => run.command === command && run.commitSha === commit.sha)) return
  const known = new Set((await store.events(EVENTS_KEPT)).map(({ type, message }) => `${type} ${message}`))
  for (const digest of commit.approvals) {
    const message = `${digest} by commit ${commit.sha}`
    if (known.has(`Approved ${message}`)) continue
    const at = new Date(clock.wallMs()).toISOString()
    await store.approve({ digest, actor: `commit ${commit.sha}`, at })
    await store.note([{ at, runId: null, key: null, type: 'Approved', severity: 'info', message }])
  }
}

/** What runs of a controller are written down as. Pure. */
function commandOf({ config }: SetContext['settings']): string {
  return `controller ${config.name}`
}

/** Records a run that did something, or that differs from the last one; what to remember afterwards. */
async function writtenDown(
  { store, settings }: SetContext,
  report: Omit<CycleReport, 'memory'> & { readonly memory: SetMemory },
): Promise<SetMemory> {
  const { memory, applied, source, outcome } = report
  const commit = source?.accepted?.loaded.commit.sha ?? null
  const isSame = memory.recorded?.commit === commit && memory.recorded.outcome === outcome
  const isIdle = (applied?.outcomes.length ?? 0) === 0
  const org = isOdd(report) ? null : memory.org
  if ((isSame && isIdle) || applied === null || isFenced(report.error)) return { ...memory, org }
  const isRewritten = source?.isRewritten ?? false
  try {
    await store.recordRun({
      runId: report.runId,
      command: commandOf(settings),
      trigger: report.trigger,
      commitSha: commit,
      planDigest: applied.situation.digest,
      outcome: outcomeOfExit(report.exitCode),
      startedAt: new Date(report.startedAtMs).toISOString(),
      finishedAt: new Date(report.finishedAtMs).toISOString(),
      exitCode: report.exitCode,
      isHistoryRewritten: isRewritten,
      counts: report.counts,
    })
    await store.note(eventsOfApplied(applied, report.runId, new Date(report.finishedAtMs).toISOString()))
  } catch (error) {
    // Who lost the lease has nothing more to say in this state.
    if (!isFenced(error)) throw error
    return { ...memory, org }
  }
  return { ...memory, org, recorded: { commit, outcome }, baseline: isRewritten ? memory.baseline : commit }
}

function isFenced(error: unknown): boolean {
  return error instanceof StateError && error.reason === 'lost'
}

/** Whether the next cycle should make sure again that the key belongs to the organisation of the state. */
function isOdd({ applied, error }: Pick<CycleReport, 'applied' | 'error'>): boolean {
  if (error instanceof ApiError) return error.status === 401 || error.status === 403
  if (applied === null) return false
  return applied.situation.services.length === 0 && applied.situation.plan.owned > 0
}
