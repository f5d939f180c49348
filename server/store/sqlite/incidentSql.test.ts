import Sqlite, { type Database } from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../../../api/testing/temporaryFolder.ts'
import { readPage } from '../statusPages/pageRows.ts'
import { GroupCommit } from './commits/groupCommit.ts'
import { databaseFile, openDatabase } from './files/openDatabase.ts'
import { sqliteScripts } from './sqliteScripts.ts'
import { publishedReads } from '../statusPages/publishedReads.ts'
import { INCIDENT_SQL } from './incidentSql.ts'

const folder = suiteFolder()
let database: Database
const run: string[] = []
beforeAll(async () => {
  for (const connection of Object.values(await openDatabase(folder))) connection.close()
  database = new Sqlite(databaseFile(folder), { verbose: (sql) => run.push(String(sql)) })
  database.pragma('foreign_keys = OFF')
  seed()
})
afterAll(() => database.close())

/** The pages `people` and `all`, both with the service of all incidents: every tenth is of a person, from the fifth on. */
function seed(): void {
  const page = database.prepare(
    `INSERT INTO status_pages (id, org_id, slug, title, text, is_public, incidents_shown, created_at, generation)
     VALUES (@shown, 'acme', 'page-' || @shown, '', '', 1, @shown, '2026-11-01T00:00:00.000Z', 1)`,
  )
  const section = database.prepare(
    "INSERT INTO status_sections (id, page_id, place, name) VALUES (@shown, @shown, 0, '')",
  )
  const component = database.prepare(
    `INSERT INTO status_components (id, section_id, place, service_id, public_name, text, shows_uptime)
     VALUES (@shown, @shown, 0, 'checkout', 'Checkout', '', 1)`,
  )
  for (const shown of ['people', 'all']) {
    for (const insert of [page, section, component]) insert.run({ shown })
  }
  database.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100)
    INSERT INTO incidents (position, id, org_id, kind, number, title, title_folded, display_id_folded, status, severity,
      created_at, updated_at, resolved_at, auto_managed)
    SELECT n, n, 'acme', 'incident', n, '', '', '', iif(n % 20 = 5, 'investigating', 'resolved'), 'major_outage',
      strftime('%Y-%m-%dT%H:%M:%fZ', '2026-08-01', (n - 1) || ' days'), '',
      iif(n % 20 = 5, NULL, strftime('%Y-%m-%dT%H:%M:%fZ', '2026-08-01', n || ' days')), n % 10 <> 5
    FROM numbers;
    INSERT INTO incident_services (incident_id, place, service_id) SELECT id, 0, 'checkout' FROM incidents;
    ANALYZE`)
}

const BOUNDS = { countMax: 100, updatesMax: 1 }
const NOVEMBER = { from: '2026-11-01', until: '2026-12-01' }

test.each([
  {
    shown: 'people',
    open: ['INC-85', 'INC-65', 'INC-45', 'INC-25', 'INC-5'],
    resolved: ['INC-95'],
    created: ['INC-95'],
    oldest: '2026-08-05T00:00:00.000Z',
    index: 'people_incidents',
  },
  {
    shown: 'all',
    open: ['INC-85', 'INC-65', 'INC-45', 'INC-25', 'INC-5'],
    resolved: [100, 99, 98, 97, 96, 95, 94, 93, 92].map((number) => `INC-${number}`),
    created: [100, 99, 98, 97, 96, 95, 94, 93].map((number) => `INC-${number}`),
    oldest: '2026-08-01T00:00:00.000Z',
    index: 'incidents',
  },
])('a page that shows the incidents of $shown reads no others', async ({ shown, index, ...expected }) => {
  const scripts = sqliteScripts({ reader: database, writer: database }, new GroupCommit(database))
  const store = publishedReads(scripts, INCIDENT_SQL)
  const page = await scripts.read(() => readPage('slug', `page-${shown}`))
  if (page === undefined) throw new Error('there is no such page')
  run.length = 0

  const read = async (filter: Parameters<typeof store.pageIncidents>[1]) =>
    (await store.pageIncidents(page, filter, BOUNDS)).map(({ displayId }) => displayId)
  const found = {
    open: await read({ kind: 'open' }),
    resolved: await read({ kind: 'resolved since', from: NOVEMBER.from }),
    created: await read({ kind: 'created', ...NOVEMBER }),
    oldest: await store.oldestPageIncident(page),
  }
  const plans = [...run].flatMap((sql) =>
    database.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(),
  )

  expect(found).toEqual(expected)
  expect(plans.map(({ detail }) => detail).filter((detail) => / i( |$)/.test(detail))).toEqual([
    'SEARCH i USING INDEX incidents_by_section (org_id=? AND <expr>=?)',
    `SEARCH i USING INDEX ${index}_by_resolution (org_id=? AND resolved_at>?)`,
    `SEARCH i USING INDEX ${index}_by_creation (org_id=? AND created_at>? AND created_at<?)`,
    `SEARCH i USING INDEX ${index}_by_creation (org_id=?)`,
  ])
})
