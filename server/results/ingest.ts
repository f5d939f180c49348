import type {
  Refusal,
  ResultDetail,
  ResultRow,
  ResultsResponse,
  ResultsRequest,
} from '../../monitoring/protocol/messages.ts'
import { outcomeName } from '../../monitoring/protocol/outcomes.ts'
import { regionOfSeries } from '../domain/regions.ts'
import type { SeriesEntry } from './boardEntries.ts'
import { type ResultsDatabase, upsertSql } from './database/resultsDatabase.ts'
import type { ResultLog } from './history/resultLog.ts'
import type { StoredResult } from './history/storedResult.ts'
import type { StateBoard } from './stateBoard.ts'

/** How far ahead of the server's clock a result may be due (seconds). */
const AHEAD_S_MAX = 5
/**
 * Largest age of a result (seconds): an agent spools for a day while the server is down, plus a margin of two hours.
 */
const AGE_S_MAX = 26 * 60 * 60
/** Maximum number of details stored per series; the oldest are removed. */
const DETAILS_MAX = 50
/** Series whose oldest details are removed at once. */
const TRIMMED_AT_ONCE = 100
const NO_SERIES = -1
/** Shortest time between two recorded observations of a certificate (seconds). */
const SEEN_AGAIN_S = 60 * 60

/** A message of results and the regions that its sender may report for. */
export interface ResultsBatch {
  readonly request: ResultsRequest
  /** Authenticated regions of the agent. Results of other regions are refused. */
  readonly regions: readonly string[]
}

/** Whether the sender of a batch may report results of a series. */
type IsOwn = (series: number) => boolean

/** Stores batches in one transaction. When the database fails, throws and stores nothing. */
export type Ingest = (
  batches: readonly ResultsBatch[],
  storeId: string,
  nowMs: number,
) => readonly ResultsResponse[]

/**
 * Prepares the ingest of results into `log`; new ones change the states of `board`. `onStored` is called after a commit
 * with the series and the code of the outcome of each new result.
 */
export function prepareIngest(
  database: ResultsDatabase,
  board: StateBoard,
  log: ResultLog,
  onStored: (stored: readonly (readonly [series: number, outcome: number])[]) => void = () => {},
): Ingest {
  let stored: (readonly [number, number])[] = []
  const storeDetails = prepareDetails(database)
  const storeCertificates = prepareCertificates(database, board)

  /** Applies a result to the states; one that is not newer than the last one changes nothing. */
  function applyResult([series, generation, dueS, , outcome, reason]: ResultRow, nowS: number): void {
    const known = board.find(series)
    // A result of an earlier definition only enters history: states belong to the current definition.
    if (known !== undefined && known.endedAtS === null && generation >= known.generation) {
      board.applyResult(series, { dueS, outcome: outcomeName(outcome), reason }, nowS)
    }
  }

  function storeBatch({ request, regions }: ResultsBatch, storeId: string, nowMs: number): ResultsResponse {
    const nowS = Math.floor(nowMs / 1_000)
    const isOwn: IsOwn = (series) => regions.includes(regionOfSeries(series) ?? '')
    const details = new Map(request.details.map((detail) => [`${detail.series} ${detail.due_s}`, detail]))
    const detailOf = ([series, , dueS]: ResultRow) =>
      details.size === 0 ? undefined : details.get(`${series} ${dueS}`)
    const refused: (readonly [number, number, Refusal])[] = []
    const accepted: ResultRow[] = []
    for (const row of request.results) {
      const [series, generation, dueS] = row
      const known = isOwn(series) ? board.find(series) : undefined
      const refusal =
        request.store === storeId ? refusalOf(known, { generation, dueS }, nowS) : ('other_store' as const)
      if (refusal === undefined) accepted.push(row)
      else refused.push([series, dueS, refusal])
    }
    const isNew = log.insert(accepted.map((row) => [row[0], resultOf(row, detailOf(row))]))
    const added = accepted.filter((_, index) => isNew[index] === true)
    // Before the states, whose changes are explained with details.
    storeDetails(added.flatMap((row) => detailOf(row) ?? []))
    for (const [series, , , , outcome] of added) stored.push([series, outcome])
    // Also results of a time that has one already, because the clock was set back: without them nothing would be known
    // until that time is over.
    for (const row of accepted) applyResult(row, nowS)
    if (request.store === storeId) storeCertificates(request, isOwn, nowS)
    const known = accepted.length - added.length
    return { batch: request.batch, stored: added.length, known, refused, now_ms: nowMs }
  }

  return (batches, storeId, nowMs) => {
    let isCommitted = false
    stored = []
    try {
      const responses = board.transact(() => batches.map((batch) => storeBatch(batch, storeId, nowMs)))
      isCommitted = true
      onStored(stored)
      return responses
    } finally {
      log.settle(isCommitted)
    }
  }
}

/** The result to store. Written out, because this runs for every result. Pure. */
function resultOf(row: ResultRow, detail: ResultDetail | undefined): StoredResult {
  return {
    generation: row[1],
    dueS: row[2],
    lateMs: row[3],
    outcome: row[4],
    reason: row[5],
    status: row[6],
    attempts: row[7],
    flags: row[8],
    totalUs: row[9],
    dnsUs: row[10],
    connectUs: row[11],
    tlsUs: row[12],
    waitUs: row[13],
    bodyUs: row[14],
    failed: detail?.failed ?? 0,
    firstReason: detail?.first?.reason ?? 0,
    firstTotalUs: detail?.first?.total_us ?? 0,
  }
}

function refusalOf(
  series: SeriesEntry | undefined,
  { generation, dueS }: { readonly generation: number; readonly dueS: number },
  nowS: number,
): Refusal | undefined {
  if (dueS > nowS + AHEAD_S_MAX) return 'clock'
  if (dueS < nowS - AGE_S_MAX) return 'too_old'
  if (series === undefined) return 'unknown_series'
  if (series.endedAtS !== null && dueS >= series.endedAtS) return 'ended'
  return generation < series.generation && dueS >= series.changedAtS ? 'superseded' : undefined
}

/** Prepares the storing of details. Few statements for many details, which arrive when many targets fail at once. */
function prepareDetails(database: ResultsDatabase): (details: readonly ResultDetail[]) => void {
  const insert = database.prepare(upsertSql('details', ['series', 'due_s'], ['text', 'expected', 'seen']))
  const wanted = Array.from({ length: TRIMMED_AT_ONCE }, () => '?').join(', ')
  const removeOldest = database.prepare(
    `DELETE FROM details WHERE series IN (${wanted}) AND (series, due_s) IN
       (SELECT series, due_s FROM (SELECT series, due_s, row_number() OVER (PARTITION BY series ORDER BY due_s DESC) AS place
          FROM details WHERE series IN (${wanted})) AS ranked WHERE place > ${DETAILS_MAX})`,
  )
  return (details) => {
    for (const { series, due_s, text, expected, seen } of details) {
      insert.run(series, due_s, text, expected, seen)
    }
    const all = [...new Set(details.map(({ series }) => series))]
    for (let at = 0; at < all.length; at += TRIMMED_AT_ONCE) {
      const series = Array.from({ length: TRIMMED_AT_ONCE }, (_, index) => all[at + index] ?? NO_SERIES)
      removeOldest.run(...series, ...series)
    }
  }
}

function prepareCertificates(database: ResultsDatabase, board: StateBoard) {
  const upsert = database.prepare(
    `INSERT INTO certificates VALUES (@orgId, @host, @port, @fingerprint, @subject, @issuer, @serial, @notBeforeS,
       @notAfterS, @chainS, 1, @seenS, NULL)
     ON CONFLICT (org_id, host, port, fingerprint) DO UPDATE SET sightings = certificates.sightings + 1,
       last_seen_s = excluded.last_seen_s WHERE certificates.last_seen_s <= excluded.last_seen_s - ${SEEN_AGAIN_S}`,
  )
  const link = database.prepare(
    'INSERT INTO certificate_endpoints VALUES (@orgId, @host, @port, @endpoint) ON CONFLICT DO NOTHING',
  )
  return ({ certificates, results }: ResultsRequest, isOwn: IsOwn, nowS: number): void => {
    if (certificates.length === 0) return
    // A certificate comes with the result of its check, which an agent may deliver a day late.
    const seenS = new Map<number, number>()
    for (const [series, , dueS] of results) seenS.set(series, Math.max(dueS, seenS.get(series) ?? 0))
    for (const { series, host, port, fingerprint, subject, issuer, serial, ...times } of certificates) {
      const known = isOwn(series) ? board.find(series) : undefined
      if (known === undefined || known.endedAtS !== null) continue
      const { orgId, endpoint } = known
      const { not_before_ms, not_after_ms, chain_not_after_ms } = times
      const [notBeforeS, notAfterS, chainS] = [not_before_ms, not_after_ms, chain_not_after_ms].map((ms) =>
        Math.floor(ms / 1_000),
      )
      const names = { orgId, host, port, fingerprint, subject, issuer, serial }
      upsert.run({
        ...names,
        notBeforeS,
        notAfterS,
        chainS,
        seenS: Math.min(seenS.get(series) ?? nowS, nowS),
      })
      link.run({ orgId, host, port, endpoint })
    }
  }
}
