import type { Database } from 'better-sqlite3'
import type {
  Refusal,
  ResultDetail,
  ResultRow,
  ResultsAnswer,
  ResultsRequest,
} from '../../monitoring/protocol/messages.ts'
import { outcomeName } from '../../monitoring/protocol/outcomes.ts'
import { regionOfSeries } from '../domain/regions.ts'
import type { KnownSeries } from './boardEntries.ts'
import type { ResultLog } from './history/resultLog.ts'
import type { StateBoard } from './stateBoard.ts'

/** How far ahead of the server's clock a result may be due (seconds). */
const AHEAD_S_MAX = 5
/** How old a result may be (seconds): an agent spools for a day while the server is down; two hours are added. */
const AGE_S_MAX = 26 * 60 * 60
/** How many details are stored for each series, newest first. */
const DETAILS_MAX = 50
/** Shortest time between two recorded sightings of one certificate (seconds). */
const SEEN_AGAIN_S = 60 * 60

/** A message of results and the regions that its sender may report for. */
export interface ResultsBatch {
  readonly request: ResultsRequest
  /** Regions of the agent, as its link authenticates them. Results of other regions are refused. */
  readonly regions: readonly string[]
}

/** Whether the sender of a batch may report results of a series. */
type IsOwn = (series: number) => boolean

/** Stores batches in one transaction. Throws, with nothing stored, when the database refuses. */
export type Ingest = (
  batches: readonly ResultsBatch[],
  storeId: string,
  nowMs: number,
) => readonly ResultsAnswer[]

/**
 * Prepares the ingest of results into `log`; new ones change the states of `board`. `onStored` is called after a commit with the
 * series and the code of the outcome of each new result.
 */
export function prepareIngest(
  database: Database,
  board: StateBoard,
  log: ResultLog,
  onStored: (stored: readonly (readonly [series: number, outcome: number])[]) => void = () => {},
): Ingest {
  let stored: (readonly [number, number])[] = []
  const storeDetail = prepareDetails(database)
  const storeCertificates = prepareCertificates(database, board)

  function storeResult(row: ResultRow, detail: ResultDetail | undefined, isOwn: IsOwn, nowS: number) {
    const [series, generation, dueS, lateMs, outcome, reason, status, attempts, flags] = row
    const known = isOwn(series) ? board.find(series) : undefined
    const refusal = refusalOf(known, { generation, dueS }, nowS)
    if (refusal !== undefined) return refusal
    const isNew = log.insert(series, {
      dueS,
      generation,
      outcome,
      reason,
      status,
      attempts,
      flags,
      lateMs,
      totalUs: row[9],
      dnsUs: row[10],
      connectUs: row[11],
      tlsUs: row[12],
      waitUs: row[13],
      bodyUs: row[14],
      failed: detail?.failed ?? 0,
      firstReason: detail?.first?.reason ?? 0,
      firstTotalUs: detail?.first?.total_us ?? 0,
    })
    if (!isNew) return 'known'
    stored.push([series, outcome])
    if (detail !== undefined) storeDetail(detail)
    // A result of an earlier definition enters history only: states belong to the current definition.
    if (known !== undefined && known.endedAtS === null && generation >= known.generation) {
      board.applyResult(series, { dueS, outcome: outcomeName(outcome), reason })
    }
    return 'stored'
  }

  function storeBatch({ request, regions }: ResultsBatch, storeId: string, nowMs: number): ResultsAnswer {
    const nowS = Math.floor(nowMs / 1_000)
    const isOwn: IsOwn = (series) => regions.includes(regionOfSeries(series) ?? '')
    const refused: (readonly [number, number, Refusal])[] = []
    const counts = { stored: 0, known: 0 }
    const details = new Map(request.details.map((detail) => [`${detail.series} ${detail.due_s}`, detail]))
    for (const row of request.results) {
      const [series, , dueS] = row
      const detail = details.size === 0 ? undefined : details.get(`${series} ${dueS}`)
      const outcome = request.store === storeId ? storeResult(row, detail, isOwn, nowS) : 'other_store'
      if (outcome === 'stored' || outcome === 'known') counts[outcome] += 1
      else refused.push([series, dueS, outcome])
    }
    if (request.store === storeId) storeCertificates(request.certificates, isOwn, nowS)
    return { batch: request.batch, ...counts, refused, now_ms: nowMs }
  }

  return (batches, storeId, nowMs) => {
    let isCommitted = false
    stored = []
    try {
      const answers = board.transact(() => batches.map((batch) => storeBatch(batch, storeId, nowMs)))
      isCommitted = true
      onStored(stored)
      return answers
    } finally {
      log.settle(isCommitted)
    }
  }
}

function refusalOf(
  series: KnownSeries | undefined,
  { generation, dueS }: { readonly generation: number; readonly dueS: number },
  nowS: number,
): Refusal | undefined {
  if (dueS > nowS + AHEAD_S_MAX) return 'clock'
  if (dueS < nowS - AGE_S_MAX) return 'too_old'
  if (series === undefined) return 'unknown_series'
  if (series.endedAtS !== null && dueS >= series.endedAtS) return 'ended'
  return generation < series.generation && dueS >= series.changedAtS ? 'superseded' : undefined
}

function prepareDetails(database: Database): (detail: ResultDetail) => void {
  const insert = database.prepare('INSERT OR REPLACE INTO details VALUES (?, ?, ?, ?, ?)')
  const removeOldest = database.prepare(
    `DELETE FROM details WHERE series = @series AND due_s <=
       (SELECT due_s FROM details WHERE series = @series ORDER BY due_s DESC LIMIT 1 OFFSET ${DETAILS_MAX})`,
  )
  return ({ series, due_s, text, expected, seen }) => {
    insert.run(series, due_s, text, expected, seen)
    removeOldest.run({ series })
  }
}

function prepareCertificates(database: Database, board: StateBoard) {
  const upsert = database.prepare(
    `INSERT INTO certificates VALUES (@orgId, @host, @port, @fingerprint, @subject, @issuer, @serial, @notBeforeS,
       @notAfterS, @chainS, 1, @nowS, NULL)
     ON CONFLICT DO UPDATE SET sightings = sightings + 1, last_seen_s = @nowS WHERE last_seen_s <= @nowS - ${SEEN_AGAIN_S}`,
  )
  const link = database.prepare(
    'INSERT INTO certificate_endpoints VALUES (@orgId, @host, @port, @endpoint) ON CONFLICT DO NOTHING',
  )
  return (certificates: ResultsRequest['certificates'], isOwn: IsOwn, nowS: number): void => {
    for (const { series, host, port, fingerprint, subject, issuer, serial, ...times } of certificates) {
      const known = isOwn(series) ? board.find(series) : undefined
      if (known === undefined || known.endedAtS !== null) continue
      const { orgId, endpoint } = known
      const { not_before_ms, not_after_ms, chain_not_after_ms } = times
      const [notBeforeS, notAfterS, chainS] = [not_before_ms, not_after_ms, chain_not_after_ms].map((ms) =>
        Math.floor(ms / 1_000),
      )
      const names = { orgId, host, port, fingerprint, subject, issuer, serial }
      upsert.run({ ...names, notBeforeS, notAfterS, chainS, nowS })
      link.run({ orgId, host, port, endpoint })
    }
  }
}
