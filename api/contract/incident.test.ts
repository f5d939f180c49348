import { expect, test } from 'vitest'
import {
  incidentPageSchema,
  incidentRequestSchema,
  incidentSchema,
  incidentUpdateRequestSchema,
} from './incident.ts'
import { formatPath, problemsOf } from './problem.ts'

const ID = '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e'

const request = { title: 'Slow', message: 'We look.', severity: 'major_outage', service_ids: [ID] }

function refusal(schema: typeof incidentRequestSchema | typeof incidentUpdateRequestSchema, value: unknown) {
  const { error } = schema.safeParse(value)
  return error === undefined
    ? 'accepted'
    : problemsOf(error).map(({ path, message }) => `${formatPath(path)}: ${message}`)
}

test.each([
  [{}, 'accepted'],
  [{ service_ids: Array(100).fill(ID) }, 'accepted'],
  [{ service_ids: Array(101).fill(ID) }, ['service_ids: must name at most 100 services']],
  [{ service_ids: [] }, ['service_ids: must name at least one service']],
  [{ service_ids: ID }, ['service_ids: must be an array of service ids']],
  [{ service_ids: ['shop'] }, ['service_ids[0]: must be a UUID']],
  [{ severity: 'bad' }, ['severity: must be one of degraded_performance, partial_outage, major_outage']],
  [{ title: 'one\nline' }, ['title: must not contain the line break U+000A (character 4)']],
  [{ message: 'two\nlines' }, 'accepted'],
  [{ message: '' }, ['message: must not be empty']],
])('the result for an incident with %j is %j', (change, expected) => {
  expect(refusal(incidentRequestSchema, { ...request, ...change })).toEqual(expected)
})

test('an update may change the severity, and its body may have many lines', () => {
  const update = { body: 'a\nb', status: 'resolved' }

  expect(incidentUpdateRequestSchema.parse({ ...update, severity: 'partial_outage', extra: 1 })).toEqual({
    ...update,
    severity: 'partial_outage',
  })
  expect(refusal(incidentUpdateRequestSchema, { ...update, status: 'open' })).toEqual([
    'status: must be one of investigating, identified, monitoring, resolved',
  ])
})

const incident = {
  id: ID,
  kind: 'incident',
  title: 'Slow',
  status: 'investigating',
  severity: 'major_outage',
  created_by: null,
  created_at: '2026-01-01T00:00:00.000Z',
  resolved_at: null,
  service_ids: [ID],
  display_id: 'INC-12',
  updated_at: '2026-01-01T00:00:00.000Z',
  auto_managed: false,
  updates: [
    { id: 'u', body: 'We look.', status_at_update: 'investigating', created_at: '2026-01-01T00:00:00.000Z' },
  ],
}

test('a page of incidents is read with every field', () => {
  const page = { items: [incident], page: 1, limit: 20, total: 1, total_pages: 1 }

  expect(incidentPageSchema.parse(page)).toEqual(page)
})

test.each([
  { kind: 'maintenance' },
  { display_id: 'INC-' },
  { display_id: 'XINC-1' },
  { display_id: 'INC-1x' },
  { display_id: 'INC-x' },
])('a response with %j is not a valid incident', (change) => {
  expect(incidentSchema.safeParse({ ...incident, ...change }).success).toBe(false)
})
