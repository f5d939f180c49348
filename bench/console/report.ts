/** Prints whether a limit is met, and fails the run when it is not. */
export function report(holds: boolean, text: string): void {
  console.log(`${holds ? 'ok  ' : 'MISS'} ${text}`)
  if (!holds) process.exitCode = 1
}

/** The time that the fraction `share` of `times` does not exceed. Pure. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
