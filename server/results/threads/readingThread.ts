/** The thread that runs queries in a process that does not store results. */
import { parentPort, workerData } from 'node:worker_threads'
import { ConnectionLostError } from '../../store/postgres/blocking/blockingClient.ts'
import { prepareLatest } from '../measurements/latestResults.ts'
import { startQuery } from '../measurements/queries.ts'
import { QueryScheduler } from '../measurements/queryScheduler.ts'
import type { Query } from '../measurements/sources.ts'
import { openPostgresResults } from '../postgres/postgresResults.ts'
import { prepareReading, statesOf } from '../readingSources.ts'
import { prepareTransitions } from '../transitionRows.ts'
import type { FromThread, ReadingSettings, ToThread } from './threadMessages.ts'

/** Interval between polls for changed states (milliseconds). */
const CHANGES_MS = 1_000

// True because this file is started as a thread, with these settings.
const port = parentPort as NonNullable<typeof parentPort>
const { databaseUrl: url } = workerData as ReadingSettings

const database = openPostgresResults({ url, lease: null })
const sources = prepareReading(database)
const changes = prepareTransitions(database)
const nowS = (): number => Math.floor(Date.now() / 1_000)
const queries = new QueryScheduler(() => performance.now())
const send = (message: FromThread): void => port.postMessage(message)
let seen = changes.newest()

/** Runs a query and sends its result. Throws when the connection is lost: the next thread connects again. */
function* runQuery({ id, name, input }: Extract<ToThread, { readonly kind: 'query' }>): Query<void> {
  try {
    const output = yield* startQuery(sources(nowS()), name, input)
    send({ kind: 'measured', id, output })
  } catch (error) {
    send({ kind: 'refused', id, reason: error instanceof Error ? error.message : String(error) })
    if (error instanceof ConnectionLostError) throw error
  }
}

/** Reports the services whose states changed since the last poll. */
function pollChanges(): void {
  const found = changes.after(seen)
  seen = found.at(-1)?.sequence ?? seen
  const serviceIds = new Set(found.flatMap(({ serviceId }) => (serviceId === '' ? [] : [serviceId])))
  if (serviceIds.size > 0) send({ kind: 'states', serviceIds })
}

port.on('message', (message: ToThread) => {
  if (message.kind === 'query') return queries.add(() => runQuery(message))
  if (message.kind === 'latest') {
    const now = sources(nowS())
    const latest = prepareLatest(database, statesOf(now), now.results)
    return send({ kind: 'latest', id: message.id, results: latest(message.series, now.nowS) })
  }
  if (message.kind !== 'stop') return
  clearInterval(looking)
  database.close()
  port.close()
})
const looking = setInterval(pollChanges, CHANGES_MS)
queries.start()
send({ kind: 'opened', fileId: '', damagedFile: null, newestTransition: seen })
