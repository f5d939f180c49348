import { ApiError } from '../../api/contract/apiError.ts'
import { ResultsBusyError } from '../results/threads/resultsBusyError.ts'
import type { AdminParts } from './adminListener.ts'
import { type ProbeParts, renderProbes } from './probeMetrics.ts'

/** Maximum time until a page is sent (milliseconds): less than the ten seconds that Prometheus waits. */
const PAGE_MS_MAX = 8_000

/** Dependencies of the page. `latest` is `undefined` while the server checks nothing. */
export interface ProbesPageParts extends Pick<ProbeParts, 'store' | 'nowMs'> {
  readonly latest: ProbeParts['latest'] | undefined
  /** Default PAGE_MS_MAX. */
  readonly pageMsMax?: number
}

/**
 * The page of the last results, rendered one at a time. Rejects with `unavailable` when the results thread does not
 * response within PAGE_MS_MAX. A page is not rendered once its scrape has ended.
 */
export function probesPage({
  store,
  nowMs,
  latest,
  pageMsMax = PAGE_MS_MAX,
}: ProbesPageParts): AdminParts['probes'] {
  let underWay: Promise<unknown> = Promise.resolve()
  return async (query) => {
    if (latest === undefined) throw new ApiError('not_found', 'not found: this server checks nothing')
    const signal = AbortSignal.timeout(pageMsMax)
    const page = underWay.then(() => {
      signal.throwIfAborted()
      return renderProbes(query, { store, nowMs, latest: (series) => latest(series).catch(refuse) })
    })
    underWay = page.catch(() => {})
    return Promise.race([page, refusalAfter(signal)])
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof ResultsBusyError)) throw error
  throw new ApiError('unavailable', 'results cannot be read at present: try again', { cause: error })
}

function refusalAfter(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new ApiError('unavailable', 'the results thread did not respond in time: try again'))
    })
  })
}
