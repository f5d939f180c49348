import { expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { prepareAgentWatch } from './agentWatch.ts'
import { prepareStateRows } from './stateRows.ts'
import { openedResults } from './testing/openedResults.ts'

test('a region that loses its agents is reported once, even across restarts, and once when it has one again', () => {
  const folder = testFolder()
  /** Looks at `atS`, as a thread that was just started. */
  const look = (atS: number, isPresent: boolean): void => {
    const { database } = openedResults(folder)
    const watch = prepareAgentWatch(database, prepareStateRows(database))
    watch.report(watch.changed([{ region: 'eu-west-1', isPresent }]), atS)
    database.close()
  }
  for (const [index, isPresent] of [true, false, false, true, true, false].entries()) look(index, isPresent)
  const { database } = openedResults(folder)
  const rows = database.prepare('SELECT at_s, kind, body FROM transitions ORDER BY sequence').all()
  database.close()

  const body = '{"region":"eu-west-1"}'
  expect(rows).toEqual([
    { at_s: 1, kind: 'agent.lost', body },
    { at_s: 3, kind: 'agent.back', body },
    { at_s: 5, kind: 'agent.lost', body },
  ])
})
