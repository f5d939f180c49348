import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Incident, IncidentUpdateRequest } from '../../../api/contract/incident.ts'
import type { ServiceRequest, ServiceResponse } from '../../../api/contract/service.ts'
import { OPERATOR } from '../../domain/accounts/actor.ts'
import type { FailingRound } from '../../domain/autoIncidentTexts.ts'
import { updateIncident } from '../../domain/incidentChanges.ts'
import {
  createService,
  deleteService,
  pauseService,
  replaceService,
  resumeService,
  setAutoIncidents,
} from '../../domain/serviceChanges.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { SERVICE_DEPS } from '../../testing/storedServices.ts'
import type { Engine } from '../engine.ts'
import type { Store } from '../store.ts'
import type { MakeEngine } from './storeSuite.ts'

const FILE = 'results'
const START_S = 1_800_000_000

const settings = { threshold: 2, windowMinutes: 10 }
type Decide = Parameters<Store['changeService']>[2]

/** Tests of automatic incidents for every database behind Store. */
export function autoIncidentSuite(name: string, makeEngine: MakeEngine): void {
  let engine: Engine
  let store: Store
  let remove: () => Promise<void>
  let orgId: string
  let nowS = START_S
  let sequence = 0
  let service: ServiceResponse

  beforeAll(async () => {
    const empty = await makeEngine(() => nowS * 1_000)
    ;({ engine, remove } = empty)
    store = await engine.open('serve')
    await store.activateMasterKey('first', 0)
  })
  beforeEach(async () => {
    nowS = START_S
    orgId = systemEnvironment.uuid()
    await store.createOrg({ id: orgId, name: 'Acme', plan: 'business', nowMs: 0 })
    const { text } = await store.createService(orgId, undefined, ({ quota }) =>
      createService(serviceBody(), { ...SERVICE_DEPS, quota: { ...quota, autoIncidents: settings } }),
    )
    // True because the response is a service.
    service = JSON.parse(text) as ServiceResponse
  })
  afterAll(async () => {
    await store.close()
    await remove()
  })

  async function apply(kind: string, body: object) {
    const after = sequence
    sequence += 1
    const transition = { sequence, atS: nowS, serviceId: service.id, kind, body: JSON.stringify(body) }
    return (await store.applyTransition(FILE, after, transition)).kind
  }

  /** A minute passes, and a round fails. */
  function fail(change: Partial<FailingRound> = {}) {
    nowS += 60
    const endpoint_id = service.endpoints[0]?.id ?? ''
    const explained = [{ endpoint_id, regions: ['eu-west-1'], text: 'status 503, expected < 400' }]
    return apply('service.round', {
      ...{
        endpoint_id,
        round: Math.floor(nowS / 60),
        interval_s: 60,
        mark: '1',
        down_count: 1,
        endpoint_count: 1,
      },
      ...{ regions: ['eu-west-1'], is_everywhere: true, explained },
      ...change,
    } satisfies FailingRound)
  }

  const pass = (kind: 'recovered' | 'steady') => apply(`service.${kind}`, { since_s: nowS })

  async function incidents(): Promise<readonly Incident[]> {
    const filter = { q: undefined, severity: undefined, serviceIds: [], page: 1, limit: 100 }
    const lists = await Promise.all(
      (['active', 'resolved'] as const).map((section) =>
        store.listIncidents(orgId, { ...filter, section }, async () => {}),
      ),
    )
    return lists.flatMap((list) => ('items' in list ? list.items : []))
  }

  async function update(request: IncidentUpdateRequest): Promise<void> {
    const [incident] = await incidents()
    await store.changeIncident(orgId, incident?.id ?? '', OPERATOR, (before, quota) =>
      updateIncident(before, request, {
        environment: { ...systemEnvironment, nowMs: () => nowS * 1_000 },
        quota,
      }),
    )
  }

  const statuses = async () => (await incidents()).map(({ status }) => status)

  describe(`automatic incidents in ${name}`, () => {
    test('an incident opens at the threshold, goes to monitoring, and is resolved: one incident, marked as automatic', async () => {
      const kinds = [await fail(), await fail(), await fail(), await pass('recovered'), await pass('steady')]

      const all = await incidents()
      expect(kinds).toEqual(['nothing', 'opened', 'nothing', 'updated', 'resolved'])
      expect(all).toMatchObject([
        {
          title: 'Checkout: https://example.com/ down from Dublin',
          auto_managed: true,
          created_by: null,
          severity: 'major_outage',
          display_id: 'INC-1',
          service_ids: [service.id],
          status: 'resolved',
          resolved_at: new Date(nowS * 1_000).toISOString(),
        },
      ])
      expect(all[0]?.updates.map(({ status_at_update }) => status_at_update)).toEqual([
        'investigating',
        'monitoring',
        'resolved',
      ])
    })

    test('failing rounds of a resolved incident do not open another one', async () => {
      await fail()
      await fail()
      await pass('steady')

      expect([await fail(), await fail()]).toEqual(['nothing', 'opened'])
    })

    test('a transition is applied once and in its order', async () => {
      await fail()
      await fail()
      sequence -= 1

      await expect(fail()).rejects.toThrow('transitions must be applied in order')
      expect(await store.appliedTransition(FILE)).toBe(sequence)
      expect(await incidents()).toHaveLength(1)
    })

    test('an update by a person takes an incident over: automation only sets monitoring, and a pause leaves it open', async () => {
      await fail()
      await fail()
      await update({ body: 'We are on it.', status: 'identified' })
      nowS += 600

      const kinds = [await fail({ mark: '1,2' }), await pass('recovered'), await pass('steady')]
      await store.changeService(orgId, service.id, (current) => pauseService(current, nowS * 1_000))

      expect(kinds).toEqual(['nothing', 'nothing', 'updated'])
      expect(await incidents()).toMatchObject([{ status: 'monitoring', auto_managed: true }])
    })

    test('an incident that a person resolves during the failure stays resolved, and mutes the service until it recovers', async () => {
      await fail()
      await fail()
      await update({ body: 'Known, and accepted.', status: 'resolved' })

      const muted = [await fail(), await fail(), await fail()]
      await pass('recovered')
      const after = [await fail(), await fail()]

      expect(muted).toEqual(['nothing', 'nothing', 'nothing'])
      expect(after).toEqual(['nothing', 'opened'])
      expect(await statuses()).toEqual(['investigating', 'resolved'])
    })

    test.each<[string, Decide, Decide]>([
      [
        'switched off and on again',
        (now) => setAutoIncidents(now, null),
        (now) => setAutoIncidents(now, settings),
      ],
      ['paused and resumed', (now) => pauseService(now, 0), (now, { quota }) => resumeService(now, quota)],
    ])(
      'a manual incident stays open when its service is %s, and its resolution mutes the service',
      async (_, end, begin) => {
        await fail()
        await fail()
        await update({ body: 'We are on it.', status: 'identified' })
        await change(store, end)
        await change(store, begin)
        const during = [await fail(), await fail(), await fail()]
        await update({ body: 'Known, and accepted.', status: 'resolved' })

        const muted = [await fail(), await fail(), await fail()]
        await pass('recovered')
        const after = [await fail(), await fail()]

        expect([...during, ...muted]).toEqual(Array.from({ length: 6 }, () => 'nothing'))
        expect(after).toEqual(['nothing', 'opened'])
      },
    )

    test('an incident that a person resolves after the recovery mutes nothing', async () => {
      await fail()
      await fail()
      await pass('recovered')
      await update({ body: 'Done.', status: 'resolved' })

      expect([await fail(), await fail()]).toEqual(['nothing', 'opened'])
    })

    test.each([
      [
        'paused',
        'The service was paused',
        (store: Store) => change(store, (now) => pauseService(now, nowS * 1_000)),
      ],
      ['deleted', 'The service was deleted', (store: Store) => change(store, deleteService)],
      [
        'switched off',
        'Automatic incidents',
        (store: Store) => change(store, (now) => setAutoIncidents(now, null)),
      ],
    ] as const)(
      'an incident of a service that is %s is resolved with that reason, once',
      async (_, words, act) => {
        await fail()
        await fail()

        await act(store)
        const late = [await fail(), await pass('recovered'), await pass('steady')]

        const all = await incidents()
        expect(late).toEqual(['nothing', 'nothing', 'nothing'])
        expect(all).toMatchObject([
          { status: 'resolved', updates: [{}, { body: expect.stringContaining(words) }] },
        ])
        expect(all[0]?.updates).toHaveLength(2)
      },
    )

    function change(store: Store, decide: Decide) {
      return store.changeService(orgId, service.id, decide)
    }

    test('while a manual incident of the service is open, no automatic one opens', async () => {
      const request = { title: 'Slow', message: 'We look.', severity: 'major_outage' as const }
      await store.createIncident(orgId, { by: OPERATOR, wantedServiceIds: [service.id] }, (facts) => ({
        ...{ id: systemEnvironment.uuid(), kind: 'incident', title: request.title, status: 'investigating' },
        ...{
          severity: request.severity,
          created_by: null,
          created_at: '2026-01-01T00:00:00.000Z',
          resolved_at: null,
        },
        ...{
          service_ids: [service.id],
          display_id: `INC-${facts.number}`,
          updated_at: '2026-01-01T00:00:00.000Z',
        },
        ...{
          auto_managed: false,
          updates: [
            {
              ...{ id: systemEnvironment.uuid(), body: request.message, status_at_update: 'investigating' },
              created_at: '2026-01-01T00:00:00.000Z',
            },
          ],
        },
      }))

      const during = [await fail(), await fail(), await fail()]
      await update({ body: 'Done.', status: 'resolved' })

      expect(during).toEqual(['nothing', 'nothing', 'nothing'])
      expect(await fail()).toBe('opened')
    })

    test('failing rounds during and before maintenance do not count, and an open incident stays open', async () => {
      const iso = (atS: number) => new Date(atS * 1_000).toISOString()
      await fail()
      const window = { startsAt: iso(nowS + 30), endsAt: iso(nowS + 150), title: 'Move', orgId: orgId }
      await store.createMaintenance(
        { ...window, id: systemEnvironment.uuid(), serviceIds: [service.id] },
        OPERATOR,
        nowS * 1_000,
      )

      const kinds = [await fail(), await fail(), await fail(), await fail()]

      expect(kinds).toEqual(['nothing', 'nothing', 'nothing', 'opened'])
    })

    test('a change of the interval restarts the count, and rounds of the former interval do not count', async () => {
      await fail()
      const slower: ServiceRequest = serviceBody({ interval_secs: 120 })
      await change(store, (now, { quota }) => replaceService(now, slower, { ...SERVICE_DEPS, quota }))
      // True because it was just changed.
      service = JSON.parse((await store.getService(orgId, service.id))?.text ?? '') as ServiceResponse

      const kinds = [await fail(), await fail()]
      const slow = { interval_s: 120, round: Math.floor(nowS / 120) }

      expect(kinds).toEqual(['nothing', 'nothing'])
      expect([await fail(slow), await fail({ ...slow, round: slow.round + 1 })]).toEqual([
        'nothing',
        'opened',
      ])
    })

    test('an incident beyond the plan limit is refused, and does not stop later transitions', async () => {
      await store.overrideLimits(orgId, { incidentsMibMax: 0 })
      await fail()

      const refused = await fail()
      await store.overrideLimits(orgId, { incidentsMibMax: 1 })

      expect(refused).toBe('refused')
      expect(await fail()).toBe('opened')
    })

    test('an open incident continues after a restart', async () => {
      await fail()
      await fail()
      await store.close()
      store = await engine.open('serve')

      expect([await fail(), await pass('recovered'), await pass('steady')]).toEqual([
        'nothing',
        'updated',
        'resolved',
      ])
    })
  })
}
