import { ApiError } from '../../api/contract/apiError.ts'
import { ResultsBusyError } from '../results/threads/resultsBusyError.ts'
import type { AdminParts } from './adminListener.ts'
import { type ProbeParts, renderProbes } from './probeMetrics.ts'

/** Longest time until a page, less than the ten seconds that Prometheus waits (milliseconds). */
const PAGE_MS_MAX = 8_000

/** What the page is made from; `latest` is `undefined` while the server checks nothing. */
export interface ProbesPageParts extends Pick<ProbeParts, 'store'> {
  readonly latest: ProbeParts['latest'] | undefined
  /** Default PAGE_MS_MAX. */
  readonly pageMsMax?: number
}

/**
 * The page of the last results. One is made at a time. Rejects with `unavailable` when the results thread gives no answer
 * within PAGE_MS_MAX: pages that nothing waits for any more are not made.
 */
export function probesPage({
  store,
  latest,
  pageMsMax = PAGE_MS_MAX,
}: ProbesPageParts): AdminParts['probes'] {
  let underWay: Promise<unknown> = Promise.resolve()
  return async (query) => {
    if (latest === undefined) throw new ApiError('not_found', 'not found: this server checks nothing')
    const signal = AbortSignal.timeout(pageMsMax)
    const page = underWay.then(() => {
      signal.throwIfAborted()
      return renderProbes(query, { store, latest: (series) => latest(series).catch(refuse) })
    })
    underWay = page.catch(() => {})
    return Promise.race([page, refusalAfter(signal)])
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof ResultsBusyError)) throw error
  throw new ApiError('unavailable', 'results cannot be read at present: ask again', { cause: error })
}

function refusalAfter(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new ApiError('unavailable', 'the results thread did not answer in time: ask again'))
    })
  })
}
