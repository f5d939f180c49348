import type { Script } from '../../scripts/script.ts'
import type { Sql } from './sql.ts'

/** Runs the statements of `script` one after the other. */
export async function execute<Result>(sql: Sql, script: Script<Result>): Promise<Result> {
  let step = script.next([])
  while (step.done !== true) step = script.next(await sql.rows(step.value.text, step.value.values))
  return step.value
}
