import type { MonitoringStore } from '../monitoringStore.ts'
import { row, rows, type Script, type Scripts } from '../scripts/script.ts'

/**
 * How a kind of database orders changes of definitions, as SQL that selects `number`, or `"serviceId"` and `sequence`.
 */
export interface ChangeSql {
  readonly newestCommand: string
  readonly commandsForgottenUpTo: string
  /** Services with commands after `$1` and up to `$2`, at most `$3`; of the region `$4`, if `isOfRegion`. */
  readonly changedServices: (isOfRegion: boolean) => string
  readonly newestQuietChange: string
  /** Services with changes without a command after `$1`, at most `$2`. */
  readonly quietChanges: string
}

/** Reads of changes of definitions. */
export function changeReads({ read }: Scripts, sql: ChangeSql) {
  return {
    newestCommand: () => read(() => numberOf(sql.newestCommand)),
    commandsForgottenUpTo: () => read(() => numberOf(sql.commandsForgottenUpTo)),
    changedServices: ({ after, upTo, region, countMax }) => {
      const values = [after, upTo, countMax, ...(region === undefined ? [] : [region])]
      return read(() => rows(sql.changedServices(region !== undefined), values))
    },
    newestQuietChange: () => read(() => numberOf(sql.newestQuietChange)),
    quietChanges: (after, countMax) => read(() => rows(sql.quietChanges, [after, countMax])),
  } satisfies Partial<MonitoringStore>
}

function* numberOf(text: string): Script<number> {
  return (yield* row<{ number: number | null }>(text, []))?.number ?? 0
}
