import { expect, test } from 'vitest'
import type { PageIncident } from '../../store/statusPageStore.ts'
import { componentState, headlineOf } from './componentState.ts'
import { listed, publicIncident } from './incidentTexts.ts'
import { uptimeOf, uptimeText } from './uptime.ts'

const facts = { isPaused: false, isInMaintenance: false, measured: 'up', severities: [] } as const

test('the state of a component is paused, then maintenance, then that of checks and open incidents', () => {
  const states = [
    componentState({ ...facts, isPaused: true, isInMaintenance: true, severities: ['major_outage'] }),
    componentState({ ...facts, isInMaintenance: true, measured: 'down' }),
    componentState({ ...facts, measured: 'down', severities: ['degraded_performance'] }),
    componentState({ ...facts, severities: ['degraded_performance', 'major_outage'] }),
    componentState({ ...facts, severities: ['partial_outage'] }),
    componentState({ ...facts, measured: undefined, severities: ['partial_outage'] }),
    componentState({ ...facts, measured: 'degraded' }),
    componentState({ ...facts, measured: 'paused' }),
    componentState({ ...facts, measured: undefined }),
    componentState(facts),
  ]

  expect(states).toEqual([
    ...['paused', 'maintenance', 'down', 'down', 'degraded', 'degraded', 'degraded'],
    ...['unknown', 'unknown', 'operational'],
  ])
})

test.each([
  [['operational', 'operational'], 'operational', 'All systems operational'],
  [['operational', 'down', 'operational'], 'down', 'Some systems are down'],
  [['operational', 'down', 'down', 'paused'], 'down', 'Major outage'],
  [['down', 'operational'], 'down', 'Some systems are down'],
  [['degraded', 'maintenance'], 'degraded', 'Some systems are degraded'],
  [['degraded', 'paused'], 'degraded', 'All systems are degraded'],
  [['maintenance', 'unknown'], 'maintenance', 'Maintenance in progress'],
  [['unknown', 'operational'], 'unknown', 'The status of some systems is unknown'],
  [['unknown', 'paused'], 'unknown', 'Status unknown'],
  [['paused', 'operational'], 'operational', 'All systems operational'],
  [['paused', 'paused'], 'paused', 'Monitoring is paused'],
  [[], 'unknown', 'No systems are listed'],
] as const)('the headline of %j names the worst state that is not paused', (states, state, text) => {
  expect(headlineOf(states)).toEqual({ state, text })
})

test('uptime counts operational and degraded time, is truncated, and is 100 only without a second of downtime', () => {
  const day = { up: 0, degraded: 0, down: 0, unknown: 0, paused: 0, maintenance: 0 }

  const texts = [
    [{ ...day, up: 86_399, down: 1 }],
    [{ ...day, up: 90 * 86_400 - 1, down: 1 }],
    [{ ...day, degraded: 50, up: 49, down: 1, unknown: 1_000, paused: 1_000, maintenance: 1_000 }, null],
    [{ ...day, up: 1 }, null],
  ].map((days) => uptimeText(uptimeOf(days) ?? -1))

  expect(texts).toEqual(['99.99 %', '99.99 %', '99.00 %', '100 %'])
  expect(uptimeOf([{ ...day, unknown: 10 }, null])).toBe(null)
})

const incident: PageIncident = {
  ...{ id: 'id', displayId: 'INC-7', status: 'resolved', severity: 'major_outage', isAutomatic: true },
  ...{ createdAt: '2026-01-01T00:00:00.000Z', resolvedAt: '2026-01-01T01:00:00.000Z', earlierUpdates: 0 },
  title: 'svc-1: https://10.0.0.1/x down from Dublin',
  serviceIds: ['a', 'b'],
  updates: [
    { id: '1', status: 'investigating', createdAt: '2026-01-01T00:00:00.000Z', body: null },
    { id: '2', status: 'identified', createdAt: '2026-01-01T00:10:00.000Z', body: 'A disk is full.' },
    { id: '3', status: 'monitoring', createdAt: '2026-01-01T00:20:00.000Z', body: null },
    { id: '4', status: 'resolved', createdAt: '2026-01-01T01:00:00.000Z', body: null },
  ],
}

test('automatic titles and updates are rewritten with public names, and updates of people stay unchanged', () => {
  const { title, updates } = publicIncident(incident, (id) => (id === 'a' ? 'Checkout' : 'Search'))

  expect([title, ...updates.map(({ body }) => body)]).toEqual([
    'Problems with Checkout and Search',
    'Automatic checks of Checkout and Search fail.',
    'A disk is full.',
    'Automatic checks of Checkout and Search pass again.',
    'The incident was closed automatically.',
  ])
})

test('up to five names are listed, and further ones are counted', () => {
  expect([[], ['A'], ['A', 'B', 'C'], ['A', 'B', 'C', 'D', 'E', 'F', 'G']].map(listed)).toEqual([
    ...['', 'A', 'A, B and C', 'A, B, C, D, E and 2 more'],
  ])
})
