import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { bundle } from '../server/processes.ts'
import type { CheckerReply, CheckerOrder } from './checkerOrder.ts'
import { startTargets } from './startTargets.ts'

/** Each endpoint is checked every 10 s, so there are 1,000 checks a second. */
const ENDPOINTS = 10_000
const SAMPLE_MS = 5_000
/** The first fraction of the time, in which caches fill and the compiler works. */
const WARM_UP_SHARE = 0.3
const WINDOW_SECONDS = 600

interface Sample {
  readonly atSeconds: number
  readonly rssMb: number
  readonly descriptors: number
}

/** The result of a soak of checks. */
export interface Soaked {
  readonly checks: number
  readonly failed: number
  /** Number of failed checks by reason. */
  readonly reasons: Readonly<Record<string, number>>
  /** Growth of memory after the warm-up (megabytes in ten minutes), and memory at the end. */
  readonly slopeMb: number
  readonly rssMb: number
  /** Open descriptors after the warm-up: the median of the first and of the second half. */
  readonly descriptors: readonly [number, number]
}

/** Checks 10,000 endpoints every 10 s for `seconds`, and observes the process that runs the checks. */
export async function soak(seconds: number): Promise<Soaked> {
  const targets = await startTargets()
  const checker = fork(await bundle(new URL('./checker.ts', import.meta.url)), { execArgv: [] })
  const samples: Sample[] = []
  const startedMs = performance.now()
  const sampling = setInterval(() => {
    samples.push({ atSeconds: (performance.now() - startedMs) / 1_000, ...resourcesOf(checker.pid) })
  }, SAMPLE_MS)
  try {
    const reply = once(checker, 'message')
    const { urls } = targets
    checker.send({ kind: 'schedule', urls, endpoints: ENDPOINTS, seconds } satisfies CheckerOrder)
    // True because of the order's kind.
    const [{ checks, failed, reasons }] = (await reply) as [
      Extract<CheckerReply, { readonly checks: number }>,
    ]
    const kept = samples.filter(({ atSeconds }) => atSeconds > WARM_UP_SHARE * seconds)
    const half = Math.floor(kept.length / 2)
    const descriptors = kept.map((one) => one.descriptors)
    return {
      ...{ checks, failed, reasons, slopeMb: slope(kept) * WINDOW_SECONDS, rssMb: kept.at(-1)?.rssMb ?? 0 },
      descriptors: [median(descriptors.slice(0, half)), median(descriptors.slice(half))],
    }
  } finally {
    clearInterval(sampling)
    checker.disconnect()
    targets.stop()
  }
}

function resourcesOf(pid: number | undefined): Omit<Sample, 'atSeconds'> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const rssMb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_000
  return { rssMb, descriptors: readdirSync(`/proc/${pid}/fd`).length }
}

/** Slope of the line of best fit through `samples` (megabytes per second). */
function slope(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, one) => sum + one, 0) / values.length
  const meanAt = mean(samples.map(({ atSeconds }) => atSeconds))
  const meanRss = mean(samples.map(({ rssMb }) => rssMb))
  const above = samples.reduce(
    (sum, { atSeconds, rssMb }) => sum + (atSeconds - meanAt) * (rssMb - meanRss),
    0,
  )
  return above / samples.reduce((sum, { atSeconds }) => sum + (atSeconds - meanAt) ** 2, 0)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
