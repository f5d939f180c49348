import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Incident } from '../../../api/contract/incident.ts'
import type { IncidentStatus, Severity } from '../../../api/contract/incidentTerms.ts'
import { openIncident, updateIncident } from '../../domain/incidentChanges.ts'
import type { NewChannel } from '../../domain/notifications/channel.ts'
import type { AfterAttempt } from '../../domain/notifications/retries.ts'
import type { SealedValue } from '../../domain/seal.ts'
import { createService } from '../../domain/serviceChanges.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { SERVICE_DEPS } from '../../testing/storedServices.ts'
import type { DueDelivery } from '../notificationStore.ts'
import type { Store } from '../store.ts'
import type { MakeEngine } from './storeSuite.ts'

const BY = { kind: 'cli' } as const
const RESULT = { status: 204, error: null, durationMs: 5 }
const DAY_MS = 24 * 60 * 60 * 1_000
/** When everything of a test that it did not postpone is due (milliseconds since the epoch). */
const NOW_MS = 1_000

/** Channels and incidents for tests of a store. */
export interface ChannelTools {
  readonly createOrg: () => Promise<string>
  readonly createService: (orgId: string) => Promise<string>
  /** A channel for all events of `serviceIds`, which is all services when absent; its id. */
  readonly createChannel: (orgId: string, serviceIds?: readonly string[]) => Promise<string>
  /** A major outage when `severity` is absent. */
  readonly incident: (orgId: string, serviceId: string, severity?: Severity) => Promise<Incident>
  /** Identified when `status` is absent. */
  readonly update: (orgId: string, incidentId: string, status?: IncidentStatus) => Promise<void>
}

/** A sealed value of nothing. */
function sealed(orgId: string, masterKeyId: string, slot: string): SealedValue {
  const bytes = () => randomBytes(4)
  return {
    ...{ keyId: systemEnvironment.uuid(), orgId, serviceId: '', endpointId: '', slot, masterKeyId },
    ...{ wrapNonce: bytes(), wrappedKey: bytes(), nonce: bytes(), ciphertext: bytes() },
  }
}

/** Tools that write to `store`. */
export function channelTools(store: Store): ChannelTools {
  const environment = { uuid: systemEnvironment.uuid, nowMs: () => 0 }
  return {
    createOrg: async () => {
      const id = systemEnvironment.uuid()
      await store.createOrg({ id, name: 'Acme', plan: 'business', nowMs: 0 })
      return id
    },
    createService: async (orgId) => {
      const { text } = await store.createService(orgId, undefined, ({ quota }) =>
        createService(serviceBody(), { ...SERVICE_DEPS, quota }),
      )
      return String(JSON.parse(text).id)
    },
    createChannel: async (orgId, serviceIds) => {
      const id = systemEnvironment.uuid()
      const make = (masterKeyId: string): NewChannel => ({
        ...{ id, kind: 'webhook', name: 'ops', host: 'hooks.example', serviceIds: serviceIds ?? null },
        events: ['incident.created', 'incident.updated', 'certificate.expiring'],
        sealed: {
          target: sealed(orgId, masterKeyId, 'target'),
          secret: sealed(orgId, masterKeyId, 'secret'),
        },
      })
      await store.createChannel(orgId, make, 0)
      return id
    },
    incident: (orgId, serviceId, severity = 'major_outage') => {
      const request = { title: 'Errors', message: 'x', severity, service_ids: [serviceId] }
      return store.createIncident(orgId, { by: BY, wantedServiceIds: [serviceId] }, (facts) =>
        openIncident(request, facts, environment),
      )
    },
    update: async (orgId, incidentId, status = 'identified') => {
      await store.changeIncident(orgId, incidentId, BY, (incident, quota) =>
        updateIncident(incident, { body: 'x', status }, { environment, quota }),
      )
    },
  }
}

/** Tests of notification channels for every database behind Store. */
export function channelSuite(name: string, makeEngine: MakeEngine): void {
  let store: Store
  let remove: () => Promise<void>
  let tools: ChannelTools
  let orgId: string
  let serviceId: string
  beforeAll(async () => {
    const empty = await makeEngine()
    remove = empty.remove
    store = await empty.engine.open('serve')
    await store.activateMasterKey('first', 0)
    tools = channelTools(store)
    orgId = await tools.createOrg()
    serviceId = await tools.createService(orgId)
  })
  afterAll(async () => {
    await store.close()
    await remove()
  })

  async function dueTo(id: string, nowMs = NOW_MS): Promise<DueDelivery | undefined> {
    const due = await store.dueDeliveries(nowMs, (all) => all.filter(({ channelId }) => channelId === id))
    return due[0]
  }

  /** Makes the attempt that is due to a channel; what it was about. */
  async function attempt(id: string, after: AfterAttempt, nowMs = NOW_MS) {
    const delivery = await dueTo(id, nowMs)
    if (delivery === undefined) return undefined
    const reason = await store.recordAttempt(delivery, RESULT, after, nowMs)
    const { type, sequence } = JSON.parse(delivery.body)
    return { type, sequence, attempt: delivery.attempt, reason }
  }

  describe(`${name}: notification channels`, () => {
    test('a channel gets incidents of its services, and only of its organisation', async () => {
      const other = await tools.createService(orgId)
      const [all, of, none] = [
        await tools.createChannel(orgId),
        await tools.createChannel(orgId, [serviceId]),
        await tools.createChannel(orgId, [other]),
      ]
      await tools.incident(orgId, serviceId)

      const delivery = await dueTo(of)

      expect([await attempt(all, { kind: 'sent' }), await dueTo(none)]).toEqual([
        { type: 'incident.created', sequence: 1, attempt: 1, reason: undefined },
        undefined,
      ])
      expect(JSON.parse(delivery?.body ?? '').data).toMatchObject({
        org: { id: orgId, name: 'Acme' },
        incident: { services: [{ id: serviceId, name: 'Checkout' }] },
      })
      expect([delivery?.secrets.length, delivery?.target.slot]).toEqual([1, 'target'])
      await expect(tools.createChannel(orgId, [systemEnvironment.uuid()])).rejects.toThrow('has no service')
    })

    test('updates of an incident are sent in order, and a failed attempt is repeated when it is due', async () => {
      const id = await tools.createChannel(orgId)
      const incident = await tools.incident(orgId, serviceId)
      await tools.update(orgId, incident.id)
      const again = { kind: 'again', dueMs: NOW_MS + 10 } as const

      const seen = [
        await attempt(id, again),
        await attempt(id, { kind: 'sent' }),
        await attempt(id, { kind: 'sent' }, NOW_MS + 10),
        await attempt(id, { kind: 'sent' }, NOW_MS + 10),
      ]
      const listed = await store.listDeliveries({ id }, { countMax: 10 })
      const whole = await store.getDelivery({ id }, listed[1]?.webhookId ?? '')

      expect(seen.map((one) => one && [one.sequence, one.attempt])).toEqual([
        [1, 1],
        undefined,
        [1, 2],
        [2, 1],
      ])
      expect(listed.map(({ state, attempts }) => [state, attempts])).toEqual([
        ['sent', 1],
        ['sent', 2],
      ])
      expect(whole.attempts.map(({ atMs }) => atMs)).toEqual([NOW_MS + 5, NOW_MS - 5])
    })

    test.each([
      [49, true],
      [50, false],
    ])(
      'between two lots of %i updates that wait for a failed one, another incident is found: %s',
      async (updates, isFound) => {
        const org = await tools.createOrg()
        const service = await tools.createService(org)
        const id = await tools.createChannel(org)
        const incident = await tools.incident(org, service)
        await attempt(id, { kind: 'again', dueMs: NOW_MS })
        for (let made = 0; made < updates; made += 1) await tools.update(org, incident.id)
        const other = await tools.incident(org, service)
        for (let made = 0; made < updates; made += 1) await tools.update(org, incident.id)

        const due = await dueTo(id, NOW_MS - 1)
        const dueAgain = await dueTo(id)

        const aboutOf = (delivery?: DueDelivery) => {
          const { data, sequence } = JSON.parse(delivery?.body ?? '{}')
          return [data?.incident.id, sequence]
        }
        expect(aboutOf(due)).toEqual(isFound ? [other.id, 1] : [undefined, undefined])
        expect(aboutOf(dueAgain)).toEqual(isFound ? [other.id, 1] : [incident.id, 1])
      },
    )

    test('a receiver that responds with 410 disables its channel, whose waiting deliveries fail until it is enabled and they are resent', async () => {
      const id = await tools.createChannel(orgId)
      for (let count = 0; count < 2; count += 1) await tools.incident(orgId, serviceId)

      const gone = await attempt(id, { kind: 'gone' })
      await tools.incident(orgId, serviceId)
      const failed = await store.listDeliveries({ id }, { state: 'failed', countMax: 10 })
      const refused = store.resendDeliveries({ id }, { sinceMs: 0 }, NOW_MS)
      await expect(refused).rejects.toThrow('the channel is disabled (the receiver responded with 410)')
      await store.setChannelState({ id }, 'active', NOW_MS)
      const again = await store.resendDeliveries({ id }, { sinceMs: 0 }, NOW_MS)
      const actions = (await store.listAudit(orgId, 3)).map(({ action }) => action)

      expect(gone?.reason).toBe('the receiver responded with 410')
      expect(failed.map(({ failedReason }) => failedReason)).toEqual([
        'channel disabled: the receiver responded with 410',
        null,
      ])
      expect([again, (await attempt(id, { kind: 'sent' }))?.attempt]).toEqual([2, 1])
      expect(actions).toEqual(['channel.resend', 'channel.enable', 'incident.create'])
    })

    test('ten deliveries that fail for five days disable a channel, and no fewer', async () => {
      const id = await tools.createChannel(orgId)
      for (let count = 0; count < 10; count += 1) await tools.incident(orgId, serviceId)

      const reasons = []
      for (let count = 0; count < 10; count += 1) {
        reasons.push((await attempt(id, { kind: 'failed' }, 5 * DAY_MS))?.reason)
      }

      expect(reasons.filter((reason) => reason === undefined)).toHaveLength(9)
      expect(reasons.at(-1)).toBe('no delivery succeeded for 5 days')
      expect((await store.listChannels(orgId)).find((one) => one.id === id)).toMatchObject({
        ...{
          state: 'disabled',
          disabledReason: 'no delivery succeeded for 5 days',
          disabledAtMs: 5 * DAY_MS,
        },
      })
    })

    test('a rotated secret signs together with the old one until that expires, and both are rewrapped with a new master key', async () => {
      const id = await tools.createChannel(orgId)
      const times = { nowMs: 0, oldUntilMs: NOW_MS + 1 }
      await store.rotateSecret({ id }, (channel, key) => sealed(channel.orgId, key, 'new'), times)
      await store.testChannel({ id }, 0)
      await store.testChannel({ id }, 0)
      const slotsAt = async (nowMs: number) => {
        const delivery = await dueTo(id, nowMs)
        if (delivery !== undefined) await store.recordAttempt(delivery, RESULT, { kind: 'sent' }, nowMs)
        return delivery?.secrets.map(({ slot }) => slot)
      }

      const slots = [await slotsAt(NOW_MS), await slotsAt(NOW_MS + 1)]
      const shown = await store.showSecret({ id, orgId }, 0)
      await store.activateMasterKey('second', 1)
      await expect(store.retireMasterKey('first', 1)).rejects.toThrow()
      const wrap = (one: SealedValue) => ({ ...one, masterKeyId: 'second' })
      while ((await store.rewrapSome('second', 2, wrap)) > 0);
      await store.retireMasterKey('first', 1)

      expect(slots).toEqual([['new', 'secret'], ['new']])
      expect([shown.slot, await store.masterKeyIds()]).toEqual(['new', ['second']])
    })

    test('a change keeps settings that it does not name, and a channel is deleted with its deliveries', async () => {
      const id = await tools.createChannel(orgId)
      await tools.incident(orgId, serviceId)
      await store.changeChannel(
        { id, orgId },
        (channel) => ({ ...channel, name: 'new', target: undefined }),
        0,
      )
      const changed = (await store.listChannels(orgId)).find((one) => one.id === id)
      const delivery = await dueTo(id)
      await store.deleteChannel({ id }, 0)

      expect(changed).toMatchObject({ name: 'new', host: 'hooks.example', serviceIds: null })
      if (delivery === undefined) throw new Error('nothing was due')
      expect(await store.recordAttempt(delivery, RESULT, { kind: 'sent' }, 0)).toBeUndefined()
      await expect(store.listDeliveries({ id }, { countMax: 1 })).rejects.toThrow('there is no channel')
      await expect(store.deleteChannel({ id, orgId: systemEnvironment.uuid() }, 0)).rejects.toThrow(
        'there is no channel',
      )
    })
  })
}
