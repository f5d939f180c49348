import Sqlite, { type Database } from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OPERATOR } from '../../../domain/accounts/actor.ts'
import { migrate } from '../files/migrations.ts'
import { prepareAudit, prepareAuditCleanup } from './audit.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const NOW_MS = Date.UTC(2026, 0, 1)

let database: Database
beforeEach(() => {
  database = new Sqlite(':memory:')
  migrate(database)
  const org = database.prepare("INSERT INTO orgs (id, name, plan, created_at) VALUES (?, ?, 'business', '')")
  for (const id of ['acme', 'other']) org.run(id, id)
})
afterEach(() => {
  database.close()
})

/** Adds entries about the targets `first` to `last`. */
function fill(orgId: string, [first, last]: readonly [number, number], nowMs: number): void {
  const note = prepareAudit(database)
  const audited = { orgId, by: OPERATOR, action: 'key.create', nowMs }
  database.transaction(() => {
    for (let at = first; at <= last; at += 1) note({ ...audited, targetId: String(at) })
  })()
}

function countAndOldest(orgId: string) {
  return database
    .prepare(
      'SELECT count(*) AS count, min(CAST(target_id AS INTEGER)) AS oldest FROM audit WHERE org_id = ?',
    )
    .get(orgId)
}

test('an entry of the audit log is kept for 400 days', () => {
  fill('acme', [1, 1], NOW_MS)
  const forget = prepareAuditCleanup(database, 1_000)

  const removed = [forget(NOW_MS + 400 * DAY_MS), forget(NOW_MS + 400 * DAY_MS + 1_000)]

  expect(removed).toEqual([0, 1])
  expect(countAndOldest('acme')).toEqual({ count: 0, oldest: null })
})

test('the newest 100,000 audit entries of an organisation are kept, independently of others, and older ones are removed in small parts', () => {
  fill('other', [1, 10], NOW_MS)
  fill('acme', [1, 100_025], NOW_MS)
  const forget = prepareAuditCleanup(database, 10)

  const removed = [1, 2, 3, 4].map(() => forget(NOW_MS))

  expect(removed).toEqual([10, 10, 5, 0])
  expect(countAndOldest('acme')).toEqual({ count: 100_000, oldest: 26 })
  expect(countAndOldest('other')).toEqual({ count: 10, oldest: 1 })
})
