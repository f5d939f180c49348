import { expect, test } from 'vitest'
import { startedRun } from '../set/loopFacts.ts'
import { conditionsOf } from './conditionsOf.ts'

test('the conditions of a set are the most urgent first, whichever part of a cycle they are from', () => {
  const at = '2026-01-01T00:00:00Z'
  const conditions = conditionsOf({
    role: 'leader',
    leaseHolder: 'one',
    nextRunAtMs: null,
    running: startedRun('interval', 0),
    report: null,
    failures: 1,
    fault: { code: 'E_NETWORK', message: 'no connection', exitCode: 1 },
    suspensions: [{ scope: '*', reason: 'a move', actor: 'ann', since: at, until: null }],
    wait: { kind: 'throttled', sinceMs: 0, reason: 'the API responds with 429' },
    services: [],
  })

  expect(conditions.map(({ type }) => type)).toEqual(['Throttled', 'Degraded', 'Suspended', 'Reconciling'])
})
