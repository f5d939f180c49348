/** The thread that owns the results: everything that is written to them is written here. */
import { parentPort, workerData } from 'node:worker_threads'
import { type Arrival, prepareIngest } from './ingest.ts'
import type { Told } from './monitoredService.ts'
import { isDamage, openResults } from './openResults.ts'
import { StateBoard } from './stateBoard.ts'
import { upkeep } from './upkeep.ts'
import type { FromThread, StoredTransition, ThreadSettings, ToThread } from './threadMessages.ts'

/** Most results of one transaction. */
const COMMIT_RESULTS_MAX = 1_000
/** How often it is looked for series whose results stopped (milliseconds). */
const PASS_TIME_MS = 5_000
/** Pause before what the database refused is tried again (milliseconds). */
const TRY_AGAIN_MS = 1_000
/** Pause after the upkeep, and between its slices, in which results are taken (milliseconds). */
const UPKEEP_MS = 10 * 60 * 1_000
const SLICE_PAUSE_MS = 20
/** Most transitions that are handed over at once. */
const TRANSITIONS_MAX = 500

// True because this file is started as a thread, with these settings.
const port = parentPort as NonNullable<typeof parentPort>
const settings = workerData as ThreadSettings

const { database, fileId, damagedFile } = openResults(settings.dataDir, settings.isSuspect)
const board = new StateBoard(database, settings.storeId)
const ingest = prepareIngest(database, board)
const transitionsAfter = database.prepare<[number], StoredTransition>(
  `SELECT sequence, at_s AS atS, service_id AS serviceId, kind, body FROM transitions
   WHERE sequence > ? ORDER BY sequence LIMIT ${TRANSITIONS_MAX}`,
)
const newestTransition = database
  .prepare<[], number>('SELECT coalesce(max(sequence), 0) FROM transitions')
  .pluck()

const tells: Told[] = []
const arrivals: { readonly id: number; readonly arrival: Arrival }[] = []
let isWorking = false
let toldTransition = newestTransition.get() ?? 0

const send = (message: FromThread): void => port.postMessage(message)
const nowS = (): number => Math.floor(Date.now() / 1_000)

/** Does `work`; what the database refuses is told, and tried again by whoever asked. */
function attempt(work: () => void): boolean {
  try {
    work()
    const newest = newestTransition.get() ?? 0
    if (newest > toldTransition) send({ kind: 'changed' })
    toldTransition = newest
    return true
  } catch (error) {
    // A new thread looks at the whole file and puts it aside.
    if (isDamage(error)) throw error
    send({ kind: 'trouble', reason: error instanceof Error ? error.message : String(error) })
    return false
  }
}

function workSoon(delayMs: number): void {
  if (isWorking) return
  isWorking = true
  setTimeout(work, delayMs)
}

function work(): void {
  isWorking = false
  while (tells.length > 0) {
    const told = tells[0] as Told
    if (attempt(() => board.transact(() => board.tell(told, nowS())))) tells.shift()
    else {
      refuseArrivals(arrivals.splice(0))
      workSoon(TRY_AGAIN_MS)
      return
    }
  }
  const taken = takeArrivals()
  if (taken.length === 0) return
  const isDone = attempt(() => {
    const answers = ingest(
      taken.map(({ arrival }) => arrival),
      settings.storeId,
      Date.now(),
    )
    for (const [index, answer] of answers.entries()) {
      send({ kind: 'ingested', id: taken[index]?.id ?? 0, answer })
    }
  })
  if (!isDone) refuseArrivals(taken)
  if (arrivals.length > 0) workSoon(0)
}

/** Does the upkeep slice by slice, and again later. One that fails goes on the next time. */
function keepUp(slices: ReturnType<typeof upkeep>): void {
  const { value: slice, done } = slices.next()
  const isOver = done === true || !attempt(() => board.transact(slice))
  keeping = isOver
    ? setTimeout(() => keepUp(upkeep(database, board, nowS())), UPKEEP_MS)
    : setTimeout(() => keepUp(slices), SLICE_PAUSE_MS)
}

/** The next messages, with results for one transaction. */
function takeArrivals() {
  let results = 0
  let count = 0
  for (const { arrival } of arrivals) {
    results += arrival.request.results.length
    if (count > 0 && results > COMMIT_RESULTS_MAX) break
    count += 1
  }
  return arrivals.splice(0, count)
}

function refuseArrivals(refused: typeof arrivals): void {
  for (const { id } of refused) send({ kind: 'refused', id, reason: 'results cannot be written at present' })
}

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'tell':
      tells.push(message.told)
      return workSoon(0)
    case 'ingest':
      arrivals.push(message)
      return workSoon(0)
    case 'transitions':
      return send({
        kind: 'transitions',
        id: message.id,
        transitions: transitionsAfter.all(message.after),
      })
    case 'stop':
      // What was told and sent before is written first.
      work()
      database.close()
      port.close()
      clearInterval(passing)
      clearTimeout(keeping)
  }
})
const passing = setInterval(() => attempt(() => board.transact(() => board.passTime(nowS()))), PASS_TIME_MS)
let keeping = setTimeout(() => keepUp(upkeep(database, board, nowS())), UPKEEP_MS)
send({ kind: 'opened', fileId, damagedFile })
