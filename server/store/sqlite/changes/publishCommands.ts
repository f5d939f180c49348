import type { Database } from 'better-sqlite3'
import type { Command } from '../../../domain/commands.ts'
import { BUS_READER } from '../../store.ts'

/** Maximum number of published commands kept for an organisation, for inspection. Gap G24. */
const KEPT_MAX = 50_000
/** Maximum number of published commands that one change deletes: more than it can create, so that a backlog shrinks. */
const DELETED_AT_ONCE = 1_000

/** Writes the commands of a change of an organisation's service to the outbox, in the caller's transaction. */
export type Publish = (orgId: string, commands: readonly Command[], nowMs: number) => void

/** Prepares the writing of commands. They are numbered per organisation, which saves counting them. */
export function preparePublish(writer: Database, keptMax = KEPT_MAX): Publish {
  const newest = writer
    .prepare<[string], number | null>('SELECT max(number) FROM commands WHERE org_id = ?')
    .pluck()
  const insert = writer.prepare(`
    INSERT INTO commands (type, region, service_id, generation, org_id, number, created_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?)`)
  // Limited before it is filtered, so that a long unpublished backlog is not searched by each change.
  const forget = writer.prepare(
    `DELETE FROM commands WHERE sequence IN
       (SELECT sequence FROM commands WHERE org_id = ? AND number <= ? ORDER BY number LIMIT ${DELETED_AT_ONCE})
     AND sequence <= (SELECT sequence FROM outbox_readers WHERE name = '${BUS_READER}')`,
  )
  return (orgId, commands, nowMs) => {
    if (commands.length === 0) return
    let number = newest.get(orgId) ?? 0
    for (const { type, region, serviceId, generation } of commands) {
      number += 1
      insert.run(type, region, serviceId, generation, orgId, number, nowMs)
    }
    if (number > keptMax) forget.run(orgId, number - keptMax)
  }
}
