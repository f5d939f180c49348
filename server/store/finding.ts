/**
 * Health of a part of a database. `refused`: the server does not start. `broken`: the server starts, but acknowledged
 * changes could be lost. `warning`: acknowledged changes are safe, but another failure is near.
 */
export type Health = 'ok' | 'warning' | 'broken' | 'refused'

/** The result of one check. */
export interface Finding {
  /** Stable name, for programs. */
  readonly check: string
  readonly health: Health
  /** For people: the finding, and the remedy unless it is ok. */
  readonly text: string
}

/** Whether acknowledged changes could be lost. Pure. */
export function isBroken({ health }: Pick<Finding, 'health'>): boolean {
  return health === 'broken' || health === 'refused'
}

/** A finding: ok, or of `health` when there is a `problem`. Pure. */
export function findingOf(
  check: string,
  { health, problem, ok }: { health: Health; problem: string | undefined; ok: string },
): Finding {
  return problem === undefined ? { check, health: 'ok', text: ok } : { check, health, text: problem }
}
