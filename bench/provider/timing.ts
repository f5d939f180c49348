/** Times of short commands, measured in turns. */
import { existsSync, readFileSync } from 'node:fs'

/** Number of runs of a short command. */
const ROUNDS = 9

/** Clock ticks per second in Linux's /proc. */
const TICKS_PER_SECOND = 100

/**
 * CPU time of finished child processes and their descendants (milliseconds); NaN without /proc. It is more accurate
 * than wall time beside other programs.
 */
export function computedMs(): number {
  if (!existsSync('/proc/self/stat')) return Number.NaN
  // After the name in parentheses, which may contain spaces. Fields 16 and 17 of proc(5) are cutime and cstime.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND) * 1_000
}

/** Times of several runs of the same work (milliseconds). `cpuMs` is the CPU time of child processes for each run. */
interface Timing {
  readonly medianMs: number
  readonly fastestMs: number
  readonly cpuMs: number
}

export const shown = ({ medianMs, fastestMs, cpuMs }: Timing): string =>
  `${medianMs.toFixed(0)} ms (fastest ${fastestMs.toFixed(0)}, computing ${cpuMs.toFixed(0)})`

/** The ratio of `one` to `other`: by the median, the fastest run and the CPU time. */
export const times = (one: Timing, other: Timing): string =>
  `${(one.medianMs / other.medianMs).toFixed(2)} × (fastest ${(one.fastestMs / other.fastestMs).toFixed(2)}, computing ${(one.cpuMs / other.cpuMs).toFixed(2)})`

/**
 * Times `works`, which return milliseconds, in turns, so that other programs on the machine slow down all of them
 * equally. The first turn does not count, because it fills caches.
 */
export async function compare<Name extends string>(
  works: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Readonly<Record<Name, Timing>>> {
  // True because the entries of `works` have its names.
  const entries = Object.entries(works) as [Name, () => Promise<number>][]
  const runs = new Map(entries.map(([name]) => [name, { ms: [] as number[], cpuMs: 0 }]))
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, work] of entries) {
      const before = computedMs()
      const ms = await work()
      const run = runs.get(name)
      if (round === 0 || run === undefined) continue
      run.ms.push(ms)
      run.cpuMs += computedMs() - before
    }
  }
  const timings = [...runs].map(([name, { ms, cpuMs }]): [Name, Timing] => {
    const sorted = ms.toSorted((one, other) => one - other)
    const [fastestMs = Number.NaN, medianMs = Number.NaN] = [sorted[0], sorted[ROUNDS >> 1]]
    return [name, { medianMs, fastestMs, cpuMs: cpuMs / ROUNDS }]
  })
  // True because `runs` has the names of `works`.
  return Object.fromEntries(timings) as Record<Name, Timing>
}
