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
import type { StateBoard } from './stateBoard.ts'

/** How far ahead of the server's clock a result may be due (seconds). */
const AHEAD_S_MAX = 5
/** How old a result may be (seconds): what an agent kept through a day without a server, and a little. */
const AGE_S_MAX = 26 * 60 * 60
/** Texts that are kept of a series, the newest. */
const DETAILS_MAX = 50
/** A certificate is written anew after this time (seconds). */
const SEEN_AGAIN_S = 60 * 60

/** A message of results, and where it comes from. */
export interface Arrival {
  readonly request: ResultsRequest
  /** Regions that its agent checks, as its link tells: it reports of no other. */
  readonly regions: readonly string[]
}

/** Whether the agent of a message may report of a series. */
type IsOwn = (series: number) => boolean

/** Takes messages in one transaction. Throws, with nothing stored, when the database refuses. */
export type Ingest = (
  arrivals: readonly Arrival[],
  storeId: string,
  nowMs: number,
) => readonly ResultsAnswer[]

/** Prepares the taking of results into `database`, which turns the states on `board`. */
export function prepareIngest(database: Database, board: StateBoard): Ingest {
  const insert = database.prepare(
    `INSERT INTO log VALUES (@dueS, @series, @generation, @outcome, @reason, @status, @attempts, @flags, @lateMs, @totalUs,
       @dnsUs, @connectUs, @tlsUs, @waitUs, @bodyUs, @failed, @firstReason, @firstTotalUs) ON CONFLICT DO NOTHING`,
  )
  const keepDetail = prepareDetails(database)
  const keepCertificates = prepareCertificates(database, board)

  function takeOne(row: ResultRow, detail: ResultDetail | undefined, isOwn: IsOwn, nowS: number) {
    const [series, generation, dueS, lateMs, outcome, reason, status, attempts, flags, ...phases] = row
    const [totalUs, dnsUs, connectUs, tlsUs, waitUs, bodyUs] = phases
    const known = isOwn(series) ? board.find(series) : undefined
    const refusal = refusalOf(known, { generation, dueS }, nowS)
    if (refusal !== undefined) return refusal
    const { changes } = insert.run({
      ...{ dueS, series, generation, outcome, reason, status, attempts, flags, lateMs },
      ...{ totalUs, dnsUs, connectUs, tlsUs, waitUs, bodyUs, failed: detail?.failed ?? 0 },
      ...{ firstReason: detail?.first?.reason ?? 0, firstTotalUs: detail?.first?.total_us ?? 0 },
    })
    if (changes === 0) return 'known'
    if (detail !== undefined) keepDetail(detail)
    // A result of the definition before is history: the state is that of what is checked now.
    if (known !== undefined && known.endedAtS === null && generation >= known.generation) {
      board.take(series, { dueS, outcome: outcomeName(outcome), reason })
    }
    return 'stored'
  }

  function takeMessage({ request, regions }: Arrival, storeId: string, nowMs: number): ResultsAnswer {
    const nowS = Math.floor(nowMs / 1_000)
    const isOwn: IsOwn = (series) => regions.includes(regionOfSeries(series) ?? '')
    const refused: (readonly [number, number, Refusal])[] = []
    const counts = { stored: 0, known: 0 }
    const details = new Map(request.details.map((detail) => [`${detail.series} ${detail.due_s}`, detail]))
    for (const row of request.results) {
      const [series, , dueS] = row
      const detail = details.get(`${series} ${dueS}`)
      const taken = request.store === storeId ? takeOne(row, detail, isOwn, nowS) : 'other_store'
      if (taken === 'stored' || taken === 'known') counts[taken] += 1
      else refused.push([series, dueS, taken])
    }
    if (request.store === storeId) keepCertificates(request.certificates, isOwn, nowS)
    return { batch: request.batch, ...counts, refused, now_ms: nowMs }
  }

  return (arrivals, storeId, nowMs) =>
    board.transact(() => arrivals.map((arrival) => takeMessage(arrival, storeId, nowMs)))
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
  const forget = database.prepare(
    `DELETE FROM details WHERE series = @series AND due_s <=
       (SELECT due_s FROM details WHERE series = @series ORDER BY due_s DESC LIMIT 1 OFFSET ${DETAILS_MAX})`,
  )
  return ({ series, due_s, text, expected, seen }) => {
    insert.run(series, due_s, text, expected, seen)
    forget.run({ series })
  }
}

function prepareCertificates(database: Database, board: StateBoard) {
  const see = database.prepare(
    `INSERT INTO certificates VALUES (@orgId, @host, @port, @fingerprint, @subject, @issuer, @serial, @notBeforeS,
       @notAfterS, @chainS, 1, @nowS)
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
      see.run({ ...names, notBeforeS, notAfterS, chainS, nowS })
      link.run({ orgId, host, port, endpoint })
    }
  }
}
