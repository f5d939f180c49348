import Sqlite, { type Database } from 'better-sqlite3'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../../api/testing/temporaryFolder.ts'
import { OPERATOR } from '../../../domain/accounts/actor.ts'
import { incidentBytes } from '../../../domain/incidentQuota.ts'
import { BUS_READER, type IncidentFilter } from '../../store.ts'
import { openStore } from '../openStore.ts'
import { MIGRATIONS, migrate } from './migrations.ts'
import { databaseFile } from './openDatabase.ts'

let folder: string
beforeEach(async () => {
  folder = testFolder()
})

/** The database of `folder` in the schema of the first `steps`, filled by `fill`. */
function makeDatabase(steps: number, fill: (database: Database) => void): void {
  const database = new Sqlite(databaseFile(folder))
  migrate(database, MIGRATIONS.slice(0, steps))
  database.exec("INSERT INTO orgs (id, name, plan, created_at) VALUES ('acme', 'Acme', 'business', '')")
  fill(database)
  database.close()
}

const response = (id: string, pausedAt: string | null) =>
  JSON.stringify({ id, regions: ['eu-west-1', 'us-east-1'], paused_at: pausedAt })

test('a database whose commands had definitions keeps all commands, published or not, and delivers the newest definition', async () => {
  makeDatabase(2, (database) => {
    const service = database.prepare(
      "INSERT INTO services (id, org_id, generation, response) VALUES (?, 'acme', ?, ?)",
    )
    service.run('active', 3, response('active', null))
    service.run('paused', 4, response('paused', '2026-01-01T00:00:00Z'))
    service.run('forgotten', 9, response('forgotten', '2026-01-01T00:00:00Z'))
    const command = database.prepare(
      'INSERT INTO commands (type, region, service_id, generation, definition, created_at_ms) VALUES (?, ?, ?, ?, ?, 7)',
    )
    const [start, end] = ['StartServiceMonitoring', 'EndServiceMonitoring']
    command.run(start, 'eu-west-1', 'deleted', 1, response('deleted', null))
    command.run(start, 'eu-west-1', 'paused', 1, response('paused', null))
    command.run(start, 'eu-west-1', 'active', 2, '{"older":1}')
    command.run(end, 'eu-west-1', 'paused', 2, null)
    command.run(start, 'us-east-1', 'active', 3, null)
    command.run(end, 'eu-west-1', 'deleted', 2, null)
    database.exec('UPDATE publication SET published_up_to = 2')
  })

  const store = await openStore(folder, () => 0)
  const { commands } = await store.commandsAfter(await store.cursorOf(BUS_READER), 10)
  const logged = await store.listCommands()
  await store.close()

  const generations = new Sqlite(databaseFile(folder))
    .prepare('SELECT id, generation, definition_generation AS published, running_in AS places FROM services')
    .all()
  const start = { type: 'StartServiceMonitoring', serviceId: 'active' }
  const end = { type: 'EndServiceMonitoring', region: 'eu-west-1', generation: 2 }
  expect(commands).toMatchObject([
    { region: 'eu-west-1', generation: 2, ...start },
    { serviceId: 'paused', ...end },
    { region: 'us-east-1', generation: 3, ...start },
    { serviceId: 'deleted', ...end },
  ])
  expect(
    logged.map(({ sequence, orgId, generation, isPublished }) => [sequence, orgId, generation, isPublished]),
  ).toEqual([
    [1, null, 1, true],
    [2, 'acme', 1, true],
    [3, 'acme', 2, false],
    [4, 'acme', 2, false],
    [5, 'acme', 3, false],
    [6, null, 2, false],
  ])
  expect(generations).toEqual([
    { id: 'active', generation: 3, published: 3, places: 'eu-west-1,us-east-1' },
    { id: 'paused', generation: 4, published: 2, places: '' },
    { id: 'forgotten', generation: 9, published: 9, places: '' },
  ])
})

test('migrated incidents are counted like new ones, and migrated maintenance windows are not', async () => {
  makeDatabase(2, (database) => {
    const incident = database.prepare(`
      INSERT INTO incidents (id, org_id, kind, number, title, title_folded, display_id_folded, status, severity,
        created_at, updated_at, auto_managed) VALUES (?, 'acme', ?, ?, 'Größe', 'größe', '', ?, 'major_outage', '', '', 0)`)
    const update = database.prepare(
      "INSERT INTO incident_updates VALUES (?, ?, ?, 'Tür', 'investigating', '')",
    )
    const service = database.prepare('INSERT INTO incident_services VALUES (?, ?, ?)')
    incident.run('open', 'incident', 1, 'investigating')
    incident.run('resolved', 'incident', 2, 'resolved')
    incident.run('window', 'maintenance', null, 'monitoring')
    for (const id of ['open', 'open', 'resolved', 'window'].entries())
      update.run(id[1], id[0], `update ${id[0]}`)
    for (const id of ['open', 'resolved', 'resolved', 'window'].entries())
      service.run(id[1], id[0], 'service')
  })
  const store = await openStore(folder, () => 0)
  const incidents = await Promise.all(['open', 'resolved'].map((id) => store.getIncident('acme', id)))
  await store.close()

  const database = new Sqlite(databaseFile(folder))
  const counted = database.prepare('SELECT incident_bytes FROM orgs').pluck().get()
  database.close()

  expect(counted).toBe(
    incidents.reduce((sum, incident) => sum + (incident === undefined ? 0 : incidentBytes(incident)), 0),
  )
})

test('migrated incidents are listed by section, severity and service, and numbering continues', async () => {
  makeDatabase(2, (database) => {
    const incident = database.prepare(`
      INSERT INTO incidents (id, org_id, kind, number, title, title_folded, display_id_folded, status, severity,
        created_at, updated_at, auto_managed) VALUES (?, 'acme', ?, ?, 'x', 'x', '', ?, 'major_outage', '', '2026-01-01', 0)`)
    const service = database.prepare('INSERT INTO incident_services VALUES (?, 0, ?)')
    incident.run('open', 'incident', 1, 'investigating')
    incident.run('resolved', 'incident', 2, 'resolved')
    incident.run('window', 'maintenance', null, 'monitoring')
    for (const id of ['open', 'resolved', 'window']) service.run(id, 'service')
  })
  const store = await openStore(folder, () => 0)
  const list = async (changes: Partial<IncidentFilter>) => {
    const filter = { section: 'active', q: undefined, serviceIds: [], page: 1, limit: 9, ...changes } as const
    const found = await store.listIncidents('acme', { severity: undefined, ...filter }, async () => {})
    return [found.total, 'items' in found ? found.items.map(({ id }) => id) : []]
  }

  expect(await list({})).toEqual([1, ['open']])
  expect(await list({ section: 'resolved', severity: 'major_outage' })).toEqual([1, ['resolved']])
  expect(await list({ serviceIds: ['service'] })).toEqual([1, ['open']])
  await store.changeIncident('acme', 'open', OPERATOR, (incident) => ({ ...incident, status: 'resolved' }))
  expect(await list({})).toEqual([0, []])
  expect(await list({ section: 'resolved' })).toEqual([2, ['resolved', 'open']])
  expect(await list({ section: 'resolved', serviceIds: ['service'] })).toEqual([2, ['resolved', 'open']])
  await store.close()
})

test('a database with only some of the steps of a release is refused', async () => {
  makeDatabase(MIGRATIONS.length, (database) => database.pragma('user_version = 10'))

  await expect(openStore(folder, () => 0)).rejects.toThrow('schema 10, which no release has')
})

test('sequence numbers continue after a migration, even if every command was deleted before it', async () => {
  makeDatabase(2, (database) => {
    database.exec(`
      INSERT INTO commands (type, region, service_id, generation, created_at_ms) VALUES ('', '', '', 1, 0), ('', '', '', 2, 0);
      UPDATE publication SET published_up_to = 2;
      DELETE FROM commands`)
  })
  const store = await openStore(folder, () => 0)
  await store.close()

  const database = new Sqlite(databaseFile(folder))
  database.exec(
    "INSERT INTO commands (type, region, service_id, generation, created_at_ms) VALUES ('', '', '', 3, 0)",
  )

  expect(database.prepare('SELECT sequence FROM commands').pluck().get()).toBe(3)
  database.close()
})
