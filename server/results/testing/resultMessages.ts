/** Messages of results, as tests send them. */
import { randomUUID } from 'node:crypto'
import { PROTOCOL, type ResultDetail, type ResultRow } from '../../../monitoring/protocol/messages.ts'
import { OUTCOMES, type Outcome, REASONS, type Reason } from '../../../monitoring/protocol/outcomes.ts'
import type { ResultsBatch } from '../ingest.ts'

/** The fields of a result that tests set. */
export interface TestResult {
  readonly series: number
  readonly dueS: number
  readonly outcome?: Outcome
  readonly reason?: Reason
  readonly generation?: number
  readonly totalUs?: number
}

/** The row that an agent would send. */
export function resultRow({ series, dueS, outcome = 'up', generation = 1, ...more }: TestResult): ResultRow {
  const reason = more.reason ?? (outcome === 'up' ? 'none' : 'response_timeout')
  const totalUs = more.totalUs ?? 48_211
  return [
    series,
    generation,
    dueS,
    2,
    OUTCOMES[outcome],
    REASONS[reason],
    200,
    1,
    0,
    totalUs,
    0,
    9_120,
    21_004,
    15_800,
    2_287,
  ]
}

/** The details that an agent would send with a result. */
export function detailOf({ series, dueS }: TestResult): ResultDetail {
  const detail = { text: 'status 500, expected 200', failed: 1, expected: '200', seen: '500', first: null }
  return { series, due_s: dueS, ...detail }
}

/** A message with these results, from an agent of three regions. */
export function batchOf(
  storeId: string,
  results: readonly TestResult[],
  details: readonly ResultDetail[] = [],
): ResultsBatch {
  return {
    regions: ['eu-west-1', 'eu-central-1', 'us-east-1'],
    request: {
      protocol: PROTOCOL,
      store: storeId,
      instance: randomUUID(),
      batch: 1,
      sent_ms: 0,
      results: results.map(resultRow),
      details: [...details],
      certificates: [],
    },
  }
}
