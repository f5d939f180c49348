/**
 * How a part of a database is. `refused`: a server does not start. `broken`: it starts, and the promise that nothing
 * acknowledged is lost does not hold. `warning`: it holds, and something else is about to go wrong.
 */
export type Health = 'ok' | 'warning' | 'broken' | 'refused'

/** One thing that was looked at. */
export interface Finding {
  /** Stable name, for programs. */
  readonly check: string
  readonly health: Health
  /** For people: what was found, and the remedy unless it is ok. */
  readonly text: string
}

/** Whether the promise does not hold. Pure. */
export function isBroken({ health }: Pick<Finding, 'health'>): boolean {
  return health === 'broken' || health === 'refused'
}

/** A finding that is ok or, as soon as there is a `problem`, of `health`. Pure. */
export function findingOf(
  check: string,
  {
    health,
    problem,
    ok,
  }: { readonly health: Health; readonly problem: string | undefined; readonly ok: string },
): Finding {
  return problem === undefined ? { check, health: 'ok', text: ok } : { check, health, text: problem }
}
