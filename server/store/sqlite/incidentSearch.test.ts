import Sqlite, { type Database } from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../../../api/testing/temporaryFolder.ts'
import type { IncidentFilter } from '../store.ts'
import { databaseFile, openDatabase } from './files/openDatabase.ts'
import { prepareIncidentSearch } from './incidentSearch.ts'

const SLICE = 50
const EVERYTHING: IncidentFilter = {
  section: 'active',
  q: undefined,
  severity: undefined,
  serviceIds: [],
  page: 1,
  limit: 20,
}
const SEVERITIES = ['degraded_performance', 'partial_outage', 'major_outage'] as const

const seeded = (number: number) => ({
  orgId: number % 5 === 0 ? 'other' : 'acme',
  kind: number % 11 === 0 ? 'maintenance' : 'incident',
  title: number % 7 === 0 ? 'Größe 100%' : 'Down',
  section: number % 3 === 0 ? ('active' as const) : ('resolved' as const),
  severity: SEVERITIES[number % 4] ?? 'major_outage',
  serviceIds: [`s${number % 6}`, ...(number % 10 === 0 ? ['s7', 's8'] : [])].map(
    (id) => `${number % 5 === 0 ? 'other' : 'acme'} ${id}`,
  ),
})
const NUMBERS = Array.from({ length: 1_000 }, (_, index) => index + 1)

const folder = suiteFolder()
let database: Database
const run: string[] = []
beforeAll(async () => {
  for (const connection of Object.values(await openDatabase(folder))) connection.close()
  database = new Sqlite(databaseFile(folder), { verbose: (sql) => run.push(String(sql)) })
  database.pragma('foreign_keys = OFF')
  seed()
  database.exec('ANALYZE')
})
afterAll(() => database.close())

/** Every incident is made open, and resolved later, as in a server. */
function seed(): void {
  const insert = database.prepare(`
    INSERT INTO incidents (position, id, org_id, kind, number, title, title_folded, display_id_folded, status, severity,
      created_at, updated_at, auto_managed)
    VALUES (@number, @id, @orgId, @kind, NULL, @title, lower(@title), 'inc-' || @number, 'investigating',
      'degraded_performance', '', '', 0)`)
  const name = database.prepare(
    "INSERT INTO incident_services (incident_id, place, service_id, position) VALUES (?, ?, ?, iif(? = 'incident', ?, NULL))",
  )
  const update = database.prepare('UPDATE incidents SET status = ?, severity = ? WHERE position = ?')
  database.transaction(() => {
    for (const number of NUMBERS) {
      const { orgId, kind, title, section, severity, serviceIds } = seeded(number)
      insert.run({ number, id: `i${number}`, orgId, kind, title })
      for (const [place, id] of serviceIds.entries()) name.run(`i${number}`, place, id, kind, number)
      update.run(section === 'active' ? 'monitoring' : 'resolved', severity, number)
    }
  })()
}

/** The same by a full scan. */
function expected(filter: IncidentFilter) {
  const all = NUMBERS.toReversed().filter((number) => {
    const { orgId, kind, title, section, severity, serviceIds } = seeded(number)
    const texts = [title.toLowerCase(), `inc-${number}`]
    return (
      orgId === 'acme' &&
      kind === 'incident' &&
      section === filter.section &&
      (filter.q === undefined || texts.some((text) => text.includes(filter.q?.toLowerCase() ?? ''))) &&
      (filter.severity ?? severity) === severity &&
      (filter.serviceIds.length === 0 || filter.serviceIds.some((id) => serviceIds.includes(id)))
    )
  })
  const offset = (filter.page - 1) * filter.limit
  return { positions: all.slice(offset, offset + filter.limit), total: all.length }
}

/** Searches; returns the page, the number of yields, and the query plan of each statement. */
async function search(filter: Partial<IncidentFilter>, orgId = 'acme') {
  const find = prepareIncidentSearch(database, SLICE)
  let turns = 0
  run.length = 0
  const found = await find(orgId, { ...EVERYTHING, ...filter }, async () => {
    turns += 1
  })
  const plans = [...run].flatMap((sql) =>
    database.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(),
  )
  return { found, turns, plans: [...new Set(plans.map(({ detail }) => detail))] }
}

test('every combination of filters finds, counts and pages the same incidents as a full scan', async () => {
  const sections = ['active', 'resolved'] as const
  const texts = [undefined, 'gRÖße', '100%', '_', 'INC-9', 'nothing']
  const services = [
    [],
    ['acme s1'],
    ['acme s1', 'acme s7', 'acme s1'],
    ['other s1'],
    ['acme s1', 'other s0'],
    ['none'],
  ]
  const pages = [
    { page: 1, limit: 20 },
    { page: 3, limit: 7 },
    { page: 2, limit: 100 },
    { page: 12, limit: 33 },
    { page: Number.MAX_SAFE_INTEGER, limit: 100 },
  ]
  const find = prepareIncidentSearch(database, SLICE)
  const noTurn = async (): Promise<void> => {}
  for (const section of sections) {
    for (const q of texts) {
      for (const severity of [undefined, ...SEVERITIES]) {
        for (const serviceIds of services) {
          for (const page of pages) {
            const filter = { ...EVERYTHING, section, q, severity, serviceIds, ...page }
            expect({ filter, ...(await find('acme', filter, noTurn)) }).toEqual({
              filter,
              ...expected(filter),
            })
          }
        }
      }
    }
  }
})

test.each<[string, Partial<IncidentFilter>, string]>([
  ['a section', {}, 'incidents_by_section'],
  ['a severity', { severity: 'partial_outage' }, 'incidents_by_severity'],
  ['a text', { q: 'größe' }, 'incidents_by_section'],
  ['a service', { serviceIds: ['acme s1'] }, 'incident_services_by_section'],
  ['several services', { serviceIds: ['acme s1', 'acme s7'] }, 'incident_services_by_section'],
])(
  '%s is searched within a range of an index, so that at most one slice is read and sorted',
  async (_, filter, index) => {
    const { plans } = await search(filter)

    const looks = plans.filter((detail) => /^(SEARCH|SCAN)/.test(detail) && detail.includes(index))
    expect(looks.length).toBeGreaterThan(0)
    expect(plans.filter((detail) => /^SCAN (?!json_each)/.test(detail))).toEqual([])
    expect(
      looks.filter((detail) => !/(rowid|position)(<|>)\?/.test(detail) && !detail.includes('service_id=?)')),
    ).toEqual([])
  },
)

test('a page of a section or severity takes one slice, however many incidents there are, and an empty page none', async () => {
  const turns: number[] = []
  for (const filter of [
    {},
    { section: 'resolved' as const },
    { severity: 'major_outage' as const },
    { page: 100 },
  ]) {
    turns.push((await search(filter)).turns)
  }

  const empty = await search({}, 'newcomer')

  expect([turns, empty.turns, empty.found]).toEqual([[0, 0, 0, 0], 0, { positions: [], total: 0 }])
  expect(empty.plans.filter((detail) => detail.includes('incidents_by'))).toEqual([])
})

test('searches for a text and distant pages run in slices, and yield to others after each', async () => {
  const { total } = (await search({ section: 'resolved' })).found

  const text = await search({ section: 'resolved', q: 'nothing' })
  const far = await search({ section: 'resolved', page: total, limit: 1 })

  expect([text.turns, far.turns]).toEqual([Math.floor(total / SLICE), Math.floor((total - 1) / SLICE)])
  expect(text.found).toEqual({ positions: [], total: 0 })
})
