import { expect, test } from 'vitest'
import type { RunRecord, StateDocument, StateEvent } from './record.ts'
import { emptyDocument, parseExport } from './stateDocument.ts'

const run: RunRecord = {
  runId: 'run-1',
  command: 'apply',
  trigger: 'command',
  commitSha: null,
  planDigest: null,
  outcome: 'done',
  startedAt: '2026-01-01T00:00:00.000Z',
  finishedAt: '2026-01-01T00:00:01.000Z',
  exitCode: 0,
  isHistoryRewritten: false,
  counts: {},
}
const event: StateEvent = {
  seq: 7,
  at: '2026-01-01T00:00:00.000Z',
  runId: null,
  key: null,
  type: 'HealLoop',
  severity: 'warning',
  message: 'a field was reverted repeatedly',
}
const request = { actor: 'ann', at: '2026-01-01T00:00:00.000Z' }

function read(parts: Partial<StateDocument>): StateDocument {
  return parseExport(JSON.stringify({ ...emptyDocument('state-1'), ...parts }), 'export.json')
}

test('an export with two records of which a state could keep only one is refused', () => {
  const runs = [run, { ...run, runId: 'run-2' }]

  expect(read({ runs, events: [event], syncRequests: [request] }).runs).toEqual(runs)
  expect(() => read({ runs: [run, { ...run, exitCode: 3 }] })).toThrow(
    'export.json contradicts itself: runs has run-1 twice',
  )
  expect(() => read({ events: [event, { ...event, key: 'shop' }] })).toThrow(
    'export.json contradicts itself: events has 7 twice',
  )
  expect(() => read({ syncRequests: [request, request] })).toThrow(
    'export.json contradicts itself: syncRequests has sync twice',
  )
})
