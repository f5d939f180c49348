import { expect, onTestFinished, test } from 'vitest'
import { ResponseCache, ENCODINGS } from './responseCache.ts'
import { targetOf } from './target.ts'
import { startSampleSite } from './testing/sampleSite.ts'
import { PageViews } from './view/pageViews.ts'

test.each(ENCODINGS)('the cache stays within its bytes when readers request %s', async (encoding) => {
  const { store, addPage, clock, close } = await startSampleSite()
  onTestFinished(close)
  await addPage({ slug: 'example', title: 'Example', sections: [] })
  const views = new PageViews({
    ...{ store, measurements: undefined },
    ...{ nowMs: () => clock.nowMs, monotonicMs: () => clock.monotonicMs },
  })
  const bytesMax = 5_000
  const cache = new ResponseCache({ store, statusUrl: undefined }, views, bytesMax)
  const targets = ['', '/history', '/feed.atom', '/status.json', '/badge.svg']
    .flatMap((path) => ['auto', 'light', 'dark'].map((theme) => `/s/example${path}?theme=${theme}`))
    .flatMap((url) => targetOf({ boundHost: undefined, url }) ?? [])

  let bytesMade = 0
  for (const target of targets) {
    const response = await cache.get(target, encoding)
    for (const body of response?.bodies.values() ?? []) bytesMade += body.length
  }
  const kept = new Set(targets.flatMap((target) => cache.current(target, encoding) ?? []))
  const bytes = [...kept]
    .flatMap(({ bodies }) => [...bodies.values()])
    .reduce((sum, { length }) => sum + length, 0)

  expect(bytesMade).toBeGreaterThan(2 * bytesMax)
  expect([kept.size > 0, bytes <= bytesMax]).toEqual([true, true])
})
