/**
 * Measures the cost of a dashboard request with 10,000 services, compared with writing only the same status as JSON.
 * The ratios apply to any machine, the milliseconds only to this one.
 *
 * Run with `node --import tsx bench/controller/dashboard.ts`.
 */
import { badge } from '../../reconciler/dashboard/badge.ts'
import { overviewPage } from '../../reconciler/dashboard/overviewPage.ts'
import { setPage } from '../../reconciler/dashboard/setPage.ts'
import { statusDocument } from '../../reconciler/dashboard/statusDocument.ts'
import {
  SAMPLE_DRIFT,
  sampleService,
  sampleSet,
  sampleStatus,
} from '../../reconciler/dashboard/testing/sampleStatus.ts'

const SERVICES = 10_000
/** One service in this many was changed manually. */
const DRIFTED_EVERY = 100
/** Number of interleaved runs of each; the fastest counts, because other work only adds. */
const RUNS = 30

const services = Array.from({ length: SERVICES }, (_, index) =>
  sampleService(`service-${index}`, {
    serviceId: `018f4c1e-7b2a-7cc0-9c3e-${String(index).padStart(12, '0')}`,
    ...(index % DRIFTED_EVERY === 0 ? { state: 'Drifted', fields: [SAMPLE_DRIFT] } : {}),
  }),
)
const set = sampleSet('shop', { services })
const status = sampleStatus([set])
const request = { status, apiUrl: null, isRefreshing: true, viewer: { kind: 'none' } } as const

const SUBJECTS: Readonly<Record<string, () => string>> = {
  'the status as JSON': () => JSON.stringify(status),
  '/status.json': () => JSON.stringify(statusDocument(status)),
  '/': () => overviewPage(request),
  '/sets/shop?page=50': () => setPage(set, request, { state: null, page: 50 }),
  '/badge/shop.svg': () => badge('shop', set),
}

const fastestMs = new Map(Object.keys(SUBJECTS).map((name) => [name, Number.POSITIVE_INFINITY]))
for (let run = 0; run < RUNS; run += 1) {
  for (const [name, make] of Object.entries(SUBJECTS)) {
    const startedAt = performance.now()
    make()
    fastestMs.set(name, Math.min(fastestMs.get(name) ?? 0, performance.now() - startedAt))
  }
}
const [, jsonMs = 1] = [...fastestMs][0] ?? []
process.stdout.write(`${SERVICES} services, one in ${DRIFTED_EVERY} drifted\n`)
for (const [name, ms] of fastestMs) {
  const kib = Buffer.byteLength(SUBJECTS[name]?.() ?? '') / 1_024
  process.stdout.write(
    `${name.padEnd(20)} ${(ms / jsonMs).toFixed(2).padStart(6)} × ${ms.toFixed(1).padStart(7)} ms ${kib.toFixed(0).padStart(6)} KiB\n`,
  )
}
