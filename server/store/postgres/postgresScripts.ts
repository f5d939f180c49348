import type { Script, Scripts } from '../scripts/script.ts'
import type { Sql } from './connections/sql.ts'
import type { StoreParts } from './writes/storeParts.ts'

/** Runs scripts in PostgreSQL. Results are not cached: another process may change them at any time. */
export function postgresScripts({ pools, queues }: StoreParts): Scripts {
  return {
    read: (script) => execute(pools.read, script()),
    write: (script) => execute(pools.write, script()),
    inTransaction: (script) => pools.inTransaction((sql) => execute(sql, script())),
    withOrgLocked: (orgId, refusal, script) =>
      queues.withOrgLocked(orgId, refusal, (sql) => execute(sql, script())),
    assertGrowth: () => {},
  }
}

/** Runs the statements of `script` one after the other. */
export async function execute<Result>(sql: Sql, script: Script<Result>): Promise<Result> {
  let step = script.next([])
  while (step.done !== true) step = script.next(await sql.rows(step.value.text, step.value.values))
  return step.value
}
