import { formatDuration } from '../../../../api/contract/duration.ts'
import { visible } from '../../../../api/contract/visibleText.ts'
import type { Binding } from '../../../plan/binding.ts'
import { EXIT } from '../../../run/exitCode.ts'
import { UsageError } from '../../../run/failure.ts'
import { isGitLocation } from '../../../state/git/gitRef.ts'
import { LEASE_TTL_MS } from '../../../state/model/lease.ts'
import { type OpenIntent, type RunRecord, type Suspension, isInForce } from '../../../state/model/record.ts'
import type { Lease, StateReading } from '../../../state/model/store.ts'
import type { Output } from '../../../text/output.ts'
import type { Command } from '../../session/commandEntry.ts'
import type { CommandResult } from '../../session/context.ts'
import { hasEndedHere } from '../../session/holder.ts'
import { readingState, requireState } from '../../session/stateAccess.ts'

/** Maximum of runs that `history` shows. */
const RUNS_MAX = 50
/** Maximum of events among which those of one run are searched. */
const EVENTS_MAX = 1_000

/** Shows the bindings, open operations, suspensions, approvals and lock of the state. No request. */
export const statusCommand: Command = (_args, context) => {
  return readingState(context, async (store) => {
    const { output } = context
    const [home, bindings, intents] = await Promise.all([store.home(), store.bindings(), store.openIntents()])
    output.result(home === null ? 'nothing was applied yet' : `organisation ${home.orgId} at ${home.url}`)
    writeBindings(bindings, output)
    for (const { key, kind } of intents)
      output.result(output.paint.yellow(`  ? ${key}: ${kind} sent, outcome not recorded`))
    const said = await showControls(store, requireState(context), output)
    return {
      exitCode: EXIT.converged,
      document: { home, services: bindings.map(bindingDocument), open: intents.map(openDocument), ...said },
    }
  })
}

function writeBindings(bindings: readonly Binding[], output: Output): void {
  for (const { key, serviceId, tombstonedAtMs, protect } of bindings) {
    const notes = [
      protect ? 'protected' : '',
      tombstonedAtMs === null ? '' : 'paused, its manifest was removed',
    ].filter((note) => note !== '')
    output.result(`  ${key}: service ${serviceId}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`)
  }
}

async function showControls(store: StateReading, location: string, output: Output): Promise<object> {
  const [suspensions, approvals, lease] = await Promise.all([
    store.suspensions(),
    store.approvals(),
    store.lease(),
  ])
  for (const one of suspensions) output.result(suspensionLine(one, output))
  for (const { digest, actor } of approvals)
    output.result(`  ${digest} is approved by ${visible(actor)}, not used yet`)
  if (lease === null) return { suspensions, approvals, lease }
  const activity = leaseActivity(lease, await store.writtenAtMs(), location)
  output.result(leaseText(activity, location, output))
  return { suspensions, approvals, lease: activity }
}

/**
 * A lease with the activity of its holder, derived from the last write to the state (null when unknown). `isExpired` is
 * whether the next run may take it over, `isGone` whether its holder was a process on this machine that has ended.
 */
function leaseActivity(lease: Lease, writtenAtMs: number | null, location: string) {
  const ttlMs = LEASE_TTL_MS[isGitLocation(location) ? 'git' : 'file']
  const lastSignAt = writtenAtMs === null ? null : new Date(writtenAtMs).toISOString()
  const isGone = hasEndedHere(lease.holder)
  const isSilent = writtenAtMs !== null && Date.now() - writtenAtMs >= ttlMs
  return { ...lease, lastSignAt, isExpired: isGone || isSilent, isGone, ttlMs }
}

function leaseText(
  { holder, lastSignAt, isExpired, isGone, ttlMs }: ReturnType<typeof leaseActivity>,
  location: string,
  { paint }: Output,
): string {
  const lastSign = lastSignAt === null ? '' : `, last active ${lastSignAt}`
  if (!isExpired) return `  in use by ${visible(holder)}${lastSign}`
  if (isGone && !isGitLocation(location))
    return `  was in use by ${visible(holder)}, which has ended${lastSign}: the next run takes over at once`
  const lockTimeout = formatDuration({ secs: (2 * ttlMs) / 1_000, nanos: 0 })
  return paint.yellow(
    `  locked by ${visible(holder)}, which ${isGone ? 'has ended' : 'is inactive'}${lastSign}: a run with --lock-timeout ${lockTimeout} takes over`,
  )
}

/** Expired suspensions are shown because they explain why changes were blocked before. */
function suspensionLine(suspension: Suspension, { paint }: Output): string {
  const { scope, actor, since, until, reason } = suspension
  const isOver = !isInForce(suspension, Date.now())
  const end = until === null ? '' : isOver ? `, expired ${until}` : ` until ${until}`
  const text = `  ‖ ${visible(`${scope} suspended by ${actor} since ${since}${end}: ${reason}`)}`
  return isOver ? paint.dim(text) : paint.yellow(text)
}

function bindingDocument(binding: Binding): object {
  const { key, serviceId: id, onDelete, protect, tombstonedAtMs } = binding
  const tombstonedAt = tombstonedAtMs === null ? null : new Date(tombstonedAtMs).toISOString()
  return { key, id, onDelete, protect, tombstonedAt }
}

function openDocument({ key, kind, sentAtMs }: OpenIntent): object {
  return { key, kind, sentAt: new Date(sentAtMs).toISOString() }
}

/** Shows the last runs. No request. */
export const historyCommand: Command = (_args, context) => {
  return readingState(context, async (store) => {
    const { output } = context
    const runs = await store.runs(RUNS_MAX)
    for (const run of runs) output.result(runText(run))
    if (runs.length === 0) output.result('no run yet')
    return { exitCode: EXIT.converged, document: { runs } }
  })
}

/** Shows the run whose id starts with RUN. No request. */
export const showCommand: Command = ([runId = ''], context) => {
  return readingState(context, (store) => oneRun(store, runId, context.output))
}

async function oneRun(store: StateReading, runId: string, output: Output): Promise<CommandResult> {
  const found = (await store.runs(Number.MAX_SAFE_INTEGER)).filter((run) => run.runId.startsWith(runId))
  const [run] = found
  if (run === undefined || found.length > 1) {
    const what = run === undefined ? 'no run' : 'several runs'
    throw new UsageError(`the state has ${what} ${runId}: see "pharos state history"`)
  }
  const events = (await store.events(EVENTS_MAX)).filter((event) => event.runId === run.runId).reverse()
  output.result(runText(run))
  output.result(`  started by ${run.trigger}, finished ${run.finishedAt}, ${run.outcome}`)
  if (run.commitSha !== null) output.result(`  commit ${run.commitSha}`)
  if (run.planDigest !== null) output.result(`  approval digest of the blocked changes: ${run.planDigest}`)
  for (const { at, key, type, message } of events)
    output.result(`  ${at}  ${type}${key === null ? '' : ` ${key}`}: ${visible(message)}`)
  return { exitCode: EXIT.converged, document: { run, events } }
}

function runText(run: RunRecord): string {
  const counts = Object.entries(run.counts).filter(([, count]) => count > 0)
  const text = counts.map(([what, count]) => `${count} ${what}`).join(', ')
  return `${run.startedAt}  ${run.runId.slice(0, 8)}  ${run.command}  exit ${run.exitCode}  ${text}`
}
