import { timestamp } from '../../domain/environment.ts'
import type { Retention } from '../../domain/historyPolicy.ts'
import type { MonitoringStore, StoredDefinition } from '../monitoringStore.ts'
import type { ApplyEffect } from '../shared/transitionEffects.ts'
import type { GroupCommit } from './commits/groupCommit.ts'
import type { Connections } from './files/openDatabase.ts'

/** Maximum total size of the definitions of one page (bytes): there may be any number of services, of 1 MiB each. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024

type DefinitionRow = Omit<StoredDefinition, 'runningIn'> & { readonly runningIn: string }

const DEFINITION_SQL = `SELECT id, org_id AS orgId, definition_generation AS generation, running_in AS runningIn,
  response AS text FROM services`

interface MonitoringParts {
  readonly commits: GroupCommit
  readonly effectOf: ApplyEffect
}

/** Data for monitoring, in SQLite. Reads page by page, so that memory does not depend on the number of services. */
export function sqliteMonitoring(
  { reader, writer }: Connections,
  { commits, effectOf }: MonitoringParts,
): Omit<MonitoringStore, 'regionModes' | 'setRegionMode'> {
  const page = reader.prepare<[string, number], DefinitionRow>(
    `${DEFINITION_SQL} WHERE id > ? ORDER BY id LIMIT ?`,
  )
  const one = reader.prepare<[string], DefinitionRow>(`${DEFINITION_SQL} WHERE id = ?`)
  const newest = reader
    .prepare<[], number>("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'commands'), 0)")
    .pluck()
  const forgotten = reader.prepare<[], number>('SELECT deleted_up_to FROM outbox_horizon').pluck()
  const changed = reader.prepare<[number, number, number], ChangedRow>(
    `SELECT service_id AS serviceId, max(sequence) AS sequence FROM commands
     WHERE sequence > ? AND sequence <= ?
     GROUP BY service_id ORDER BY max(sequence) LIMIT ?`,
  )
  const changedInRegion = reader.prepare<[string, number, number, number], ChangedRow>(
    `SELECT service_id AS serviceId, max(sequence) AS sequence FROM commands INDEXED BY commands_of_region
     WHERE region = ? AND sequence > ? AND sequence <= ?
     GROUP BY service_id ORDER BY max(sequence) LIMIT ?`,
  )
  const numbersOf = reader.prepare<[string], NumberRow>(
    'SELECT endpoint_id AS id, number FROM numbered_endpoints WHERE service_id = ?',
  )
  const number = writer.prepare(
    'INSERT INTO numbered_endpoints (endpoint_id, service_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )
  const newestQuiet = reader
    .prepare<[], number>('SELECT coalesce(max(sequence), 0) FROM quiet_changes')
    .pluck()
  const quiet = reader.prepare<[number, number], ChangedRow>(
    'SELECT service_id AS serviceId, sequence FROM quiet_changes WHERE sequence > ? ORDER BY sequence LIMIT ?',
  )
  const appliedSql = 'SELECT sequence FROM applied_transitions WHERE results_file = ?'
  const applied = reader.prepare<[string], number>(appliedSql).pluck()
  const appliedNow = writer.prepare<[string], number>(appliedSql).pluck()
  const retention = reader.prepare<[], Retention & { readonly orgId: string }>(
    `SELECT o.id AS orgId, coalesce(o.results_days, p.results_days) AS resultsDays,
       max(p.hours_days, coalesce(o.results_days, p.results_days)) AS hoursDays
     FROM orgs o JOIN plans p ON p.name = o.plan`,
  )
  const maintenance = reader.prepare<[string], { serviceId: string; fromS: number; untilS: number }>(
    `SELECT s.service_id AS serviceId, unixepoch(i.starts_at) AS fromS, unixepoch(i.ends_at) AS untilS
     FROM incidents i JOIN incident_services s ON s.incident_id = i.id
     WHERE i.kind = 'maintenance' AND i.ends_at > ?`,
  )
  const apply = writer.prepare('INSERT OR REPLACE INTO applied_transitions VALUES (1, ?, ?)')
  return {
    definitionsAfter: async (serviceId, countMax) => bounded(page.iterate(serviceId, countMax)),
    definitionOf: async (serviceId) => {
      const row = one.get(serviceId)
      return row === undefined ? undefined : definitionOfRow(row)
    },
    newestCommand: async () => newest.get() ?? 0,
    commandsForgottenUpTo: async () => forgotten.get() ?? 0,
    changedServices: async ({ after, upTo, region, countMax }) =>
      region === undefined
        ? changed.all(after, upTo, countMax)
        : changedInRegion.all(region, after, upTo, countMax),
    newestQuietChange: async () => newestQuiet.get() ?? 0,
    quietChanges: async (after, countMax) => quiet.all(after, countMax),
    endpointNumbers: async (serviceIds) =>
      new Map(serviceIds.flatMap((id) => numbersOf.all(id)).map(({ id, number: at }) => [id, at])),
    numberEndpoints: (endpoints) =>
      commits.run(() => {
        for (const { id, serviceId } of endpoints) number.run(id, serviceId)
      }),
    historyPolicy: async (endAfterMs) => ({
      retention: new Map(retention.all().map(({ orgId, ...days }) => [orgId, days])),
      maintenance: maintenance.all(timestamp(endAfterMs)),
    }),
    appliedTransition: async (resultsFile) => applied.get(resultsFile) ?? 0,
    applyTransition: (resultsFile, after, transition) =>
      commits.run(() => {
        if ((appliedNow.get(resultsFile) ?? 0) !== after) {
          throw new Error('transitions must be applied in order')
        }
        const effect = effectOf(transition)
        apply.run(resultsFile, transition.sequence)
        return effect
      }),
  }
}

interface ChangedRow {
  readonly serviceId: string
  readonly sequence: number
}

interface NumberRow {
  readonly id: string
  readonly number: number
}

/** The first of `rows` that fit in memory, at least one. */
function bounded(rows: Iterable<DefinitionRow>): readonly StoredDefinition[] {
  const definitions: StoredDefinition[] = []
  let bytes = 0
  for (const row of rows) {
    bytes += row.text.length
    if (bytes > PAGE_BYTES_MAX && definitions.length > 0) break
    definitions.push(definitionOfRow(row))
  }
  return definitions
}

function definitionOfRow({ runningIn, ...row }: DefinitionRow): StoredDefinition {
  return { ...row, runningIn: runningIn === '' ? [] : runningIn.split(',') }
}
