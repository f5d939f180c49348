import { expect, test } from 'vitest'
import { ApiError } from '../../api/contract/apiError.ts'
import type { Incident, IncidentRequest, IncidentUpdateRequest } from '../../api/contract/incident.ts'
import { openIncident, updateIncident } from './incidentChanges.ts'
import { assertWithinIncidentQuota, incidentBytes } from './incidentQuota.ts'
import { fixedEnvironment } from './testing/fixedEnvironment.ts'

const NOW = '2026-01-01T00:00:00.000Z'
const LATER = '2026-01-01T00:01:00.000Z'
const MIB = 1_024 * 1_024

const quota = { usedBytes: 0, mibMax: 1 }
const facts = { number: 7, ownServiceIds: new Set(['a', 'b']), quota }
const request: IncidentRequest = {
  title: 'Slow',
  message: 'We look.',
  severity: 'major_outage',
  service_ids: ['B', 'a', 'b'],
}

const opened: Incident = {
  id: 'uuid-2',
  kind: 'incident',
  title: 'Slow',
  status: 'investigating',
  severity: 'major_outage',
  created_by: null,
  created_at: NOW,
  resolved_at: null,
  service_ids: ['b', 'a'],
  display_id: 'INC-7',
  updated_at: NOW,
  auto_managed: false,
  updates: [{ id: 'uuid-1', body: 'We look.', status_at_update: 'investigating', created_at: NOW }],
}

test('a new incident begins with its message, and names each service once', () => {
  expect(openIncident(request, facts, fixedEnvironment(Date.parse(NOW)))).toEqual(opened)
})

test('a service of another organisation cannot be named', () => {
  expect(() => openIncident({ ...request, service_ids: ['a', 'c'] }, facts, fixedEnvironment())).toThrow(
    new ApiError('invalid', 'service_ids: must name services of this organisation only'),
  )
})

const FULL =
  'plan limit: at most 1 MiB of incidents, where an open one counts for 80 KiB more: resolve some, or ask for a higher limit'

test('an incident beyond the size limit is not opened', () => {
  const full = { ...facts, quota: { usedBytes: MIB, mibMax: 1 } }

  expect(() => openIncident(request, full, fixedEnvironment())).toThrow(new ApiError('forbidden', FULL))
})

/** `opened` with the update of `change`, a minute later unless `at` says otherwise. */
function update(change: Partial<IncidentUpdateRequest> = {}, incident = opened, at = LATER, has = quota) {
  const environment = fixedEnvironment(Date.parse(at))
  return updateIncident(
    incident,
    { body: 'Found.', status: 'identified', ...change },
    { environment, quota: has },
  )
}

test('an update is appended, and sets the status of the incident', () => {
  expect(update()).toEqual({
    ...opened,
    status: 'identified',
    updated_at: LATER,
    updates: [
      ...opened.updates,
      { id: 'uuid-1', body: 'Found.', status_at_update: 'identified', created_at: LATER },
    ],
  })
})

test('an update may change the severity', () => {
  expect(update({ severity: 'partial_outage' }).severity).toBe('partial_outage')
})

test('an incident is resolved at the time of the resolving update', () => {
  const resolved = update({ status: 'resolved' })

  expect([resolved.status, resolved.resolved_at]).toEqual(['resolved', LATER])
})

test('a resolved incident accepts no update', () => {
  expect(() => update({}, { ...opened, status: 'resolved' })).toThrow(
    new ApiError('invalid', 'incident is already resolved'),
  )
})

test('a clock that was set back writes no update before the last one', () => {
  const { updated_at, updates } = update({}, opened, '2025-12-31T00:00:00.000Z')

  expect([updated_at, updates.at(-1)?.created_at]).toEqual([NOW, NOW])
})

/** An incident whose updates, together with one of the body `x`, are `bytes` of JSON. */
function almostFull(bytes: number): Incident {
  const [first] = opened.updates
  const last = { id: 'uuid-1', body: 'x', status_at_update: 'identified', created_at: LATER }
  const rest = Buffer.byteLength(JSON.stringify([{ ...first, body: '' }, last]))
  return { ...opened, updates: [{ ...first!, body: `é${'x'.repeat(bytes - rest - 2)}` }] }
}

test('updates fill an incident to 256 KiB, and then only a resolving one is accepted', () => {
  const [fits, full] = [almostFull(256 * 1_024), almostFull(256 * 1_024 + 1)]
  const has = { usedBytes: 0, mibMax: 1 }

  expect(update({ body: 'x' }, fits, LATER, has).updates).toHaveLength(2)
  // Its status is shorter than the other.
  expect(update({ body: 'xxx', status: 'resolved' }, full, LATER, has).updates).toHaveLength(2)
  expect(() => update({ body: 'x' }, full, LATER, has)).toThrow(
    new ApiError(
      'invalid',
      'body: the updates of an incident are at most 256 KiB together: resolve it, and continue in another incident',
    ),
  )
})

test('an update beyond the size limit is refused, unless it resolves the incident', () => {
  const full = { usedBytes: MIB, mibMax: 1 }

  expect(() => update({}, opened, LATER, full)).toThrow(new ApiError('forbidden', FULL))
  expect(update({ status: 'resolved' }, opened, LATER, full).status).toBe('resolved')
})

test('the size of an incident counts its texts in UTF-8, the title twice, its services, and a reserve for its resolution', () => {
  const incident = {
    ...opened,
    title: 'é',
    updates: ['ü', 'ab'].map((body) => ({ ...opened.updates[0]!, body })),
  }
  const own = 1_024 + 2 * 2 + 2 * 256 + 2 * 384 + 2 + 2

  expect([incidentBytes({ ...incident, status: 'resolved' }), incidentBytes(incident)]).toEqual([
    own,
    own + 80 * 1_024,
  ])
})

test('the size limit may be reached exactly', () => {
  const size = incidentBytes(opened)
  const left = (bytes: number) => ({ usedBytes: MIB - bytes, mibMax: 1 })

  expect(() => assertWithinIncidentQuota(left(size), null, opened)).not.toThrow()
  expect(() => assertWithinIncidentQuota(left(size - 1), null, opened)).toThrow(
    new ApiError('forbidden', FULL),
  )
  const grown = { ...opened, title: 'Slower' }
  expect(() => assertWithinIncidentQuota(left(4), opened, grown)).not.toThrow()
  expect(() => assertWithinIncidentQuota(left(3), opened, grown)).toThrow(new ApiError('forbidden', FULL))
  expect(() => assertWithinIncidentQuota(left(-5), opened, opened)).not.toThrow()
})
