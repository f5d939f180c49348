import type { Scripts } from '../scripts/script.ts'
import { execute } from './connections/execute.ts'
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
