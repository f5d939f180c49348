/** The thread that stores results; the only writer. */
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import type { HistoryPolicy } from '../../domain/historyPolicy.ts'
import { SET_BACK_S_MAX } from '../../domain/serviceState.ts'
import { fileGuard } from '../../store/sqlite/files/fileGuard.ts'
import { ConnectionLostError } from '../../store/postgres/blocking/blockingClient.ts'
import { prepareAgentWatch } from '../agentWatch.ts'
import { prepareCertificateWatch } from '../certificateWatch.ts'
import { CheckCounts } from '../checkCounts.ts'
import { ensureDatabaseId } from '../database/databaseId.ts'
import { isDamage } from '../file/damage.ts'
import { openForReading, openResults } from '../file/openResults.ts'
import { RESULTS_FILE } from '../file/resultsSchema.ts'
import { putMaintenance } from '../history/maintenanceRows.ts'
import { OpenHours } from '../history/openHours.ts'
import { loadLog, ResultLog } from '../history/resultLog.ts'
import type { Slices } from '../history/slices.ts'
import { prepareIngest, type ResultsBatch } from '../ingest.ts'
import { prepareLatest } from '../measurements/latestResults.ts'
import { startQuery } from '../measurements/queries.ts'
import { QueryScheduler } from '../measurements/queryScheduler.ts'
import { prepareResults, type Query } from '../measurements/sources.ts'
import type { MonitoredChange } from '../monitoredService.ts'
import { openPostgresResults } from '../postgres/postgresResults.ts'
import { StateBoard } from '../stateBoard.ts'
import { prepareStateRows } from '../stateRows.ts'
import { prepareTransitions } from '../transitionRows.ts'
import { upkeep } from '../upkeep.ts'
import type { FromThread, ThreadSettings, ToThread } from './threadMessages.ts'

/** Maximum number of results in one transaction. */
const COMMIT_RESULTS_MAX = 1_000
/** Interval of the check for stale series (milliseconds). */
const STALE_CHECK_MS = 5_000
/** Interval of the check for expiring certificates (milliseconds). */
const CERTIFICATE_CHECK_MS = 60_000
/** Delay before a refused write is retried (milliseconds). */
const RETRY_MS = 1_000
/** Pauses between runs of the upkeep, and between its slices, when ingest runs (milliseconds). */
const UPKEEP_MS = 10 * 60 * 1_000
const SLICE_PAUSE_MS = 20
/** Pause before the first upkeep after a start (milliseconds). */
const FIRST_UPKEEP_MS = 30_000
/** Interval between reports of changed states (milliseconds). */
const CHANGES_MS = 1_000

// True because this file is started as a thread, with these settings.
const port = parentPort as NonNullable<typeof parentPort>
const settings = workerData as ThreadSettings

const { database, reader, fileId, damagedFile, assertInPlace } = open(settings)
const board = new StateBoard(database, settings.storeId)
const log = new ResultLog(database, new OpenHours())
const checks = new CheckCounts()
const ingest = prepareIngest(database, board, log, (stored) => checks.add(stored))
const results = prepareResults(reader, log.openHours)
const latest = prepareLatest(reader, board, results)
const rows = prepareStateRows(database)
const watchCertificates = prepareCertificateWatch(database, rows)
const watchAgents = prepareAgentWatch(database, rows)
const transitions = prepareTransitions(database)

const changes: MonitoredChange[] = []
const batches: { readonly id: number; readonly batch: ResultsBatch }[] = []
let isWorking = false
let policy: HistoryPolicy | undefined
/** The trusted time at 0 of the monotonic clock (milliseconds since the epoch). */
let trustedFromMs = 0
let appliedUpTo = 0
let staleCheckedS = 0
/** The time at 0 of the monotonic clock, at the last check for stale series (milliseconds since the epoch). */
let checkedClockStartMs = Date.now() - performance.now()
let announcedTransition = transitions.newest()

/** Opens the results; `reader` is a read-only connection for queries. */
function open({ place, lease, isSuspect }: ThreadSettings) {
  if ('databaseUrl' in place) {
    const shared = openPostgresResults({ url: place.databaseUrl, lease })
    const assertInPlace = () => {}
    return {
      database: shared,
      reader: shared,
      fileId: ensureDatabaseId(shared),
      damagedFile: null,
      assertInPlace,
    }
  }
  const opened = openResults(place.dataDir, isSuspect)
  const reader = openForReading(place.dataDir)
  return { ...opened, reader, assertInPlace: fileGuard(join(place.dataDir, RESULTS_FILE)) }
}

const send = (message: FromThread): void => port.postMessage(message)
const nowS = (): number => Math.floor(Date.now() / 1_000)
const nowMs = (): number => performance.now()
const queries = new QueryScheduler(nowMs)

/** Runs `work`; reports an error of the database and returns `false`. Throws when the file is damaged. */
function attempt(work: () => void): boolean {
  try {
    work()
    const newest = transitions.newest()
    if (newest > announcedTransition) send({ kind: 'changed', newestTransition: newest })
    announcedTransition = newest
    return true
  } catch (error) {
    // The next thread verifies the file and moves it aside, or reconnects and reads the committed state.
    if (isDamage(error) || error instanceof ConnectionLostError) throw error
    send({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
    return false
  }
}

/** Sets series without recent results to unknown, and follows a clock that was set back. */
function markStale(): void {
  const checkedS = nowS()
  const clockStartMs = Date.now() - nowMs()
  const wasSetBack = clockStartMs < checkedClockStartMs - SET_BACK_S_MAX * 1_000
  if (!attempt(() => board.transact(() => board.markStale(checkedS, wasSetBack)))) return
  staleCheckedS = checkedS
  checkedClockStartMs = clockStartMs
}

function scheduleWork(delayMs: number): void {
  if (isWorking) return
  isWorking = true
  setTimeout(work, delayMs)
}

function work(): void {
  isWorking = false
  while (changes.length > 0) {
    const change = changes[0] as MonitoredChange
    if (attempt(() => board.transact(() => board.update(change, nowS())))) changes.shift()
    else {
      refuseBatches(batches.splice(0))
      scheduleWork(RETRY_MS)
      return
    }
  }
  const next = nextBatches()
  if (next.length === 0) return
  // Ends the thread: the next one makes a new file.
  assertInPlace()
  // After a start, and after the machine was suspended, results come before the timer: they must not hide the gap.
  if (nowS() - staleCheckedS > STALE_CHECK_MS / 1_000) markStale()
  const isDone = attempt(() => {
    const responses = ingest(
      next.map(({ batch }) => batch),
      settings.storeId,
      Date.now(),
    )
    for (const [index, response] of responses.entries()) {
      send({ kind: 'ingested', id: next[index]?.id ?? 0, response })
    }
  })
  if (!isDone) refuseBatches(next)
  if (batches.length > 0) scheduleWork(0)
}

/** Reads the log into memory, then starts queries and the upkeep. */
function load(loaded: OpenHours, slices: Slices): void {
  const { value: slice, done } = slices.next()
  if (done !== true) {
    slice()
    setImmediate(() => load(loaded, slices))
    return
  }
  log.openHours.absorb(loaded)
  queries.start()
  setTimeout(startUpkeep, FIRST_UPKEEP_MS)
}

function startUpkeep(): void {
  // Without the policy, retention is unknown.
  if (policy === undefined) setTimeout(startUpkeep, FIRST_UPKEEP_MS)
  else {
    const trustedS = Math.floor((trustedFromMs + nowMs()) / 1_000)
    const parts = { database, board, log, policy, nowMs, appliedUpTo: () => appliedUpTo, trustedS }
    runUpkeep(upkeep(parts, nowS()))
  }
}

/** Runs the upkeep slice by slice and schedules the next run. A failed run continues with the next. */
function runUpkeep(slices: Slices, workedMs = 0): void {
  let isOver = false
  const startedMs = nowMs()
  const isDone = attempt(() => {
    const { value: slice, done } = slices.next()
    isOver = done === true
    if (slice !== undefined) board.transact(slice)
  })
  const worked = workedMs + nowMs() - startedMs
  if (isOver) send({ kind: 'compacted', secs: worked / 1_000 })
  if (isOver || !isDone) setTimeout(startUpkeep, UPKEEP_MS)
  else setTimeout(() => runUpkeep(slices, worked), SLICE_PAUSE_MS)
}

/** Runs a query and sends its result. */
function* runQuery({ id, name, input }: Extract<ToThread, { readonly kind: 'query' }>): Query<void> {
  try {
    const seriesOf = (endpoint: number) => board.seriesOf(endpoint)
    // Series are in memory.
    const prefetchOrg = () => {}
    const sources = { database: reader, nowS: nowS(), seriesOf, prefetchOrg, results }
    const output = yield* startQuery(sources, name, input)
    send({ kind: 'measured', id, output })
  } catch (error) {
    if (isDamage(error) || error instanceof ConnectionLostError) throw error
    send({ kind: 'refused', id, reason: error instanceof Error ? error.message : String(error) })
  }
}

/** The next batches for one transaction. */
function nextBatches() {
  let results = 0
  let count = 0
  for (const { batch } of batches) {
    results += batch.request.results.length
    if (count > 0 && results > COMMIT_RESULTS_MAX) break
    count += 1
  }
  return batches.splice(0, count)
}

function refuseBatches(refused: typeof batches): void {
  for (const { id } of refused) send({ kind: 'refused', id, reason: 'results cannot be written at present' })
}

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'update':
      changes.push(message.change)
      return scheduleWork(0)
    case 'policy':
      policy = message.policy
      trustedFromMs = message.trustedMs - nowMs()
      attempt(() => putMaintenance(database, message.policy.maintenance))
      return
    case 'agents': {
      const changed = watchAgents.changed(message.regions)
      if (changed.length > 0) attempt(() => board.transact(() => watchAgents.report(changed, nowS())))
      return
    }
    case 'query':
      return queries.add(() => runQuery(message))
    case 'ingest':
      batches.push(message)
      return scheduleWork(0)
    case 'transitions':
      // The main thread asks for the transitions after those it has applied.
      appliedUpTo = Math.max(appliedUpTo, message.after)
      return send({
        kind: 'transitions',
        id: message.id,
        transitions: transitions.after(message.after),
      })
    case 'latest':
      return send({ kind: 'latest', id: message.id, results: latest(message.series, nowS()) })
    case 'stop':
      // Writes earlier messages first.
      work()
      reader.close()
      database.close()
      // Whatever is planned would need the database: the upkeep, queries, and the rest of a start.
      process.exit()
  }
})
setInterval(markStale, STALE_CHECK_MS)
setInterval(() => attempt(() => board.transact(() => watchCertificates(nowS()))), CERTIFICATE_CHECK_MS)
setInterval(() => {
  const serviceIds = board.takeChanged()
  if (serviceIds.size > 0) send({ kind: 'states', serviceIds })
  const counts = checks.takeChanged()
  if (counts !== undefined) send({ kind: 'checks', counts })
}, CHANGES_MS)
const loaded = new OpenHours()
load(loaded, loadLog(database, loaded, nowMs))
send({ kind: 'opened', fileId, damagedFile, newestTransition: announcedTransition })
