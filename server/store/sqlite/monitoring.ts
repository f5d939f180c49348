import { type MonitoringReads, markApplied } from '../monitoring/monitoringReads.ts'
import type { MonitoringStore } from '../monitoringStore.ts'
import type { ApplyEffect } from '../shared/transitionEffects.ts'
import type { GroupCommit } from './commits/groupCommit.ts'
import type { Connections } from './files/openDatabase.ts'
import { executorOn } from './sqliteScripts.ts'

interface MonitoringParts {
  readonly commits: GroupCommit
  readonly effectOf: ApplyEffect
}

/** Changes of definitions and applied transitions, in SQLite. */
export function sqliteMonitoring(
  { reader, writer }: Connections,
  { commits, effectOf }: MonitoringParts,
): Omit<MonitoringStore, keyof MonitoringReads | 'regionModes' | 'setRegionMode'> {
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
  const newestQuiet = reader
    .prepare<[], number>('SELECT coalesce(max(sequence), 0) FROM quiet_changes')
    .pluck()
  const quiet = reader.prepare<[number, number], ChangedRow>(
    'SELECT service_id AS serviceId, sequence FROM quiet_changes WHERE sequence > ? ORDER BY sequence LIMIT ?',
  )
  const execute = executorOn(writer)
  return {
    newestCommand: async () => newest.get() ?? 0,
    commandsForgottenUpTo: async () => forgotten.get() ?? 0,
    changedServices: async ({ after, upTo, region, countMax }) =>
      region === undefined
        ? changed.all(after, upTo, countMax)
        : changedInRegion.all(region, after, upTo, countMax),
    newestQuietChange: async () => newestQuiet.get() ?? 0,
    quietChanges: async (after, countMax) => quiet.all(after, countMax),
    applyTransition: (resultsFile, after, transition) =>
      commits.run(() => {
        execute(markApplied(resultsFile, after, transition.sequence))
        return effectOf(transition)
      }),
  }
}

interface ChangedRow {
  readonly serviceId: string
  readonly sequence: number
}
