import { expect, test } from 'vitest'
import type { ResultsRequest } from '../protocol/messages.ts'
import { type Backlog, memoryBacklog } from './backlog.ts'
import { LinkError } from './link.ts'
import { ResultQueue } from './resultQueue.ts'
import { OTHER_STORE, pending, queued, STORE } from './testing/pendingResults.ts'

/** A server whose responses the test controls. */
function startQueue(
  judge: (request: ResultsRequest, attempt: number) => Error | undefined,
  backlog: Backlog = memoryBacklog(),
) {
  const attempts: ResultsRequest[] = []
  const taken: ResultsRequest[] = []
  let arrived = () => {}
  let monotonicMs = 0
  const queue = new ResultQueue({
    link: {
      sync: () => Promise.reject(new Error('not asked')),
      results: async (request) => {
        attempts.push(request)
        const failure = judge(request, attempts.length)
        if (failure === undefined) taken.push(request)
        arrived()
        if (failure !== undefined) throw failure
        return { batch: request.batch, stored: request.results.length, known: 0, refused: [], now_ms: 0 }
      },
    },
    instance: STORE,
    nowMs: () => 0,
    monotonicMs: () => monotonicMs,
    backlog,
    onError: () => {},
    onSpoolError: () => {},
  })
  const until = async (isDone: () => boolean) => {
    while (!isDone()) {
      await new Promise<void>((resolve) => {
        arrived = resolve
      })
    }
  }
  return {
    queue,
    attempts,
    taken,
    until,
    pass: (ms: number) => {
      monotonicMs += ms
    },
  }
}

const dueOf = (requests: readonly ResultsRequest[]) =>
  requests.map(({ results }) => results.map(([series, , dueS]) => [series, dueS]))

test('each batch contains results of one store only', async () => {
  const { queue, taken, until } = startQueue(() => undefined)

  queue.push(pending(1, 10))
  queue.push(pending(2, 11))
  queue.push(pending(1, 12, OTHER_STORE))
  await until(() => taken.length === 2)

  expect(taken.map(({ store }) => store)).toEqual([STORE, OTHER_STORE])
  expect(dueOf(taken)).toEqual([
    [
      [1, 10],
      [2, 11],
    ],
    [[1, 12]],
  ])
})

test.each([
  ['429 from a busy server', new LinkError(429, 'busy')],
  ['500 from a failing server', new LinkError(500, 'internal error')],
  ['a refused connection', new Error('connect ECONNREFUSED')],
  ['a refusal by a server with another protocol', new LinkError(400, 'upgrade the agent', true)],
])('after %s the same results are sent again', async (_name, failure) => {
  const { queue, attempts, until } = startQueue((_request, attempt) => (attempt === 1 ? failure : undefined))

  queue.push(pending(1, 10))
  await until(() => attempts.length >= 2)

  expect(dueOf(attempts)).toEqual([[[1, 10]], [[1, 10]]])
  expect(queue.stats).toEqual({ waiting: 0, dropped: 0, refused: 0 })
})

test.each([400, 413])(
  'a result that makes a message fail with %i is found and quarantined, and the others are delivered',
  async (status) => {
    const aside: number[] = []
    const backlog = {
      ...memoryBacklog(),
      count: 0,
      dropped: 0,
      putAside: async (result: { row: readonly number[] }) => {
        aside.push(result.row[2] ?? 0)
      },
    }
    const { queue, taken, until } = startQueue(
      ({ results }) =>
        results.some(([, , dueS]) => dueS === 13) ? new LinkError(status, 'refused') : undefined,
      backlog,
    )

    for (let dueS = 10; dueS < 18; dueS += 1) queue.push(pending(1, dueS))
    await until(() => taken.flatMap(({ results }) => results).length === 7)

    expect(taken.flatMap(({ results }) => results.map(([, , dueS]) => dueS))).toEqual([
      10, 11, 12, 14, 15, 16, 17,
    ])
    expect([aside, queue.stats.refused]).toEqual([[13], 1])
  },
)

test.each([0, 1])(
  'after an outage the newest result of each series is sent first, then the backlog, however many attempts there were (%i)',
  async (triedMore) => {
    const backlog = memoryBacklog()
    let isUnavailable = true
    const { queue, attempts, taken, until, pass } = startQueue(
      () => (isUnavailable ? new Error('away') : undefined),
      backlog,
    )
    for (const dueS of [10, 20, 30]) {
      queue.push(pending(1, dueS))
      queue.push(pending(2, dueS + 1))
    }
    await until(() => attempts.length === 1)
    pass(6_000)
    await until(() => backlog.count === 6 && attempts.length >= 2)
    const tried = attempts.length
    queue.push(pending(1, 40))
    await until(() => attempts.length >= tried + triedMore)
    isUnavailable = false
    await until(() => backlog.count === 0 || taken.length >= 3)

    expect(dueOf(taken).slice(0, 3)).toEqual([
      [[1, 40]],
      [
        [1, 30],
        [2, 31],
      ],
      [
        [1, 10],
        [2, 11],
        [1, 20],
        [2, 21],
        [1, 30],
        [2, 31],
      ],
    ])
  },
)

test('an agent that stops while the server is unreachable leaves its results in the backlog', async () => {
  const backlog = memoryBacklog()
  const { queue } = startQueue(() => new Error('away'), backlog)

  queue.push(pending(1, 10))
  await queue.stop()
  queue.push(pending(1, 20))

  expect(await backlog.oldest()).toEqual([queued(1, 10)])
})

test('results left by an earlier process are delivered even without a new result', async () => {
  const backlog = memoryBacklog()
  await backlog.add([queued(1, 10)])
  const { taken, until } = startQueue(() => undefined, backlog)

  await until(() => taken.length === 1)

  expect(dueOf(taken)).toEqual([[[1, 10]]])
})

test('of the results left by an earlier process, the newest of each series is sent first', async () => {
  const backlog = memoryBacklog()
  for (const dueS of [10, 20, 30]) await backlog.add([queued(1, dueS), queued(2, dueS + 1)])
  let isUnavailable = true
  const { attempts, taken, until } = startQueue(
    () => (isUnavailable ? new Error('away') : undefined),
    backlog,
  )

  await until(() => attempts.length === 1)
  isUnavailable = false
  await until(() => taken.length === 2)

  const newest = [
    [1, 30],
    [2, 31],
  ]
  expect(dueOf(attempts)).toEqual([newest, newest, [[1, 10], [2, 11], [1, 20], [2, 21], ...newest]])
})
