import type { ResultsDatabase } from './database/resultsDatabase.ts'
import type { StateRows } from './stateRows.ts'

/** Whether a region that agents check has an agent. */
export interface RegionPresence {
  readonly region: string
  /** `false` once its last agent counts as lost. */
  readonly isPresent: boolean
}

/**
 * Prepares the watch of regions that agents check: writes a transition when a region loses its last agent, and when it
 * has one again. Reported losses are stored, so that none is reported twice. Runs in the caller's transaction.
 */
export function prepareAgentWatch(database: ResultsDatabase, rows: Pick<StateRows, 'addTransition'>) {
  const isLost = database.prepare<[string], number>('SELECT 1 FROM meta WHERE key = ?').pluck()
  const mark = database.prepare('INSERT INTO meta VALUES (?, ?)')
  const unmark = database.prepare('DELETE FROM meta WHERE key = ?')
  const keyOf = (region: string) => `agents lost in ${region}`
  return {
    /** The regions whose presence differs from the reported one. */
    changed: (regions: readonly RegionPresence[]): readonly RegionPresence[] =>
      regions.filter(({ region, isPresent }) => isPresent === (isLost.get(keyOf(region)) === 1)),
    report: (changed: readonly RegionPresence[], nowS: number): void => {
      for (const { region, isPresent } of changed) {
        if (isPresent) unmark.run(keyOf(region))
        else mark.run(keyOf(region), String(nowS))
        const kind = isPresent ? 'agent.back' : 'agent.lost'
        rows.addTransition({ atS: nowS, serviceId: '', kind, body: JSON.stringify({ region }) })
      }
    },
  }
}
