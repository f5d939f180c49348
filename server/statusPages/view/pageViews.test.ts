import { afterEach, beforeEach, expect, test } from 'vitest'
import { ResponseCache } from '../responseCache.ts'
import { targetOf } from '../target.ts'
import { type SampleSite, startSampleSite } from '../testing/sampleSite.ts'
import { PageViews } from './pageViews.ts'

let site: SampleSite
beforeEach(async () => {
  site = await startSampleSite()
})
afterEach(() => site.close())

const clocks = () => ({
  nowMs: () => site.clock.nowMs,
  monotonicMs: () => site.clock.monotonicMs,
})
const addPage = (slug: string) => site.addPage({ slug, title: slug, sections: [] })

test('months before the oldest one cause no query, and the oldest one causes one query a minute', async () => {
  await addPage('example')
  const run: string[] = []
  const store: SampleSite['store'] = {
    ...site.store,
    pageIncidents: (...given) => {
      run.push('incidents')
      return site.store.pageIncidents(...given)
    },
    oldestPageIncident: (page) => {
      run.push('oldest')
      return site.store.oldestPageIncident(page)
    },
  }
  const views = new PageViews({ store, measurements: undefined, ...clocks() })
  const cache = new ResponseCache({ store, statusUrl: undefined }, views)
  const responsesOf = async (...months: readonly string[]) => {
    const urls = months.map((month) => `/s/example/history?month=${month}`)
    const targets = urls.flatMap((url) => targetOf({ boundHost: undefined, url }) ?? [])
    return Promise.all(targets.map((target) => cache.get(target, 'identity')))
  }
  await views.read({ kind: 'slug', slug: 'example' })
  run.length = 0

  const early = await responsesOf('2019-01', '2026-09', '2026-10')
  const runEarly = [...run]
  const [present] = await responsesOf('2026-11')
  site.clock.monotonicMs += 30_000
  await responsesOf('2019-01')
  const runWithinAMinute = run.filter((kind) => kind === 'oldest')
  site.clock.monotonicMs += 30_000
  await responsesOf('2019-01')

  expect([early, runEarly, present?.kind]).toEqual([[undefined, undefined, undefined], [], 'html'])
  expect([runWithinAMinute, run.filter((kind) => kind === 'oldest')]).toEqual([[], ['oldest']])
})

test('a page with the slug of a deleted one has its own oldest month', async () => {
  const views = new PageViews({ store: site.store, measurements: undefined, ...clocks() })
  const oldestMonth = async () => (await views.read({ kind: 'slug', slug: 'example' }))?.oldestMonth
  const id = await addPage('example')
  const before = await oldestMonth()

  await site.store.deleteStatusPage(id)
  site.clock.nowMs = Date.UTC(2026, 11, 1)
  await addPage('example')
  site.clock.monotonicMs += 20_000

  expect([before, await oldestMonth()]).toEqual(['2026-11', '2026-12'])
})

test('measurements that do not arrive make states unknown, and delay only one page', async () => {
  const addresses = ['one-page', 'two-page', 'third-page'].map((slug) => ({ kind: 'slug', slug }) as const)
  const serviceId = await site.addService('svc-1')
  for (const { slug } of addresses) {
    await site.addPage({
      ...{ slug, title: slug },
      sections: [{ name: '', components: [{ serviceId, name: 'Checkout' }] }],
    })
  }
  const asked: (() => void)[] = []
  const now = { id: serviceId, state: 'up', sinceS: 0, reasons: [], lastResultS: 0, p95Ms: null } as const
  const states = [{ ...now, hours: '', certificates: [] }]
  const measurements = {
    states: () =>
      new Promise<typeof states>((resolve) => {
        asked.push(() => resolve(states))
      }),
    days: async () => [],
    onChange: () => () => {},
  }
  const views = new PageViews({ store: site.store, measurements, ...clocks(), measureMsMax: 100 })
  const readAll = async () => {
    const read = await Promise.all(addresses.map((address) => views.read(address)))
    return read.map((view) => view?.shown.headline.state)
  }

  const late = await readAll()
  const askedWhileLate = asked.length
  asked[0]?.()
  await new Promise((resolve) => setImmediate(resolve))
  site.clock.monotonicMs += 60_000
  const reading = views.read({ kind: 'slug', slug: 'one-page' })
  while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve))
  asked[1]?.()

  expect([late, askedWhileLate]).toEqual([['unknown', 'unknown', 'unknown'], 1])
  expect((await reading)?.shown.headline.state).toBe('operational')
})
