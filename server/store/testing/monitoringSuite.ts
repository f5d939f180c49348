import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import { OPERATOR } from '../../domain/accounts/actor.ts'
import type { CertificateNotice } from '../../domain/certificateNotices.ts'
import { createService, deleteService, pauseService, setAutoIncidents } from '../../domain/serviceChanges.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { SERVICE_DEPS } from '../../testing/storedServices.ts'
import type { MonitoringStore } from '../monitoringStore.ts'
import type { Store } from '../store.ts'
import { channelTools } from './channelSuite.ts'
import type { MakeEngine } from './storeSuite.ts'

const FILE = 'results'
/** Tests of what monitoring reads and writes, for every database behind Store, with two programs on one database. */
export function monitoringSuite(name: string, makeEngine: MakeEngine): void {
  let store: Store
  /** That of another program. */
  let other: Store
  let remove: () => Promise<void>
  let orgId: string
  let sequence = 0
  beforeAll(async () => {
    const empty = await makeEngine()
    remove = empty.remove
    store = await empty.engine.open('serve')
    other = await empty.engine.open('administer')
    await store.activateMasterKey('first', 0)
    orgId = systemEnvironment.uuid()
    await store.createOrg({ id: orgId, name: 'Acme', plan: 'enterprise', nowMs: 0 })
  })
  afterAll(async () => {
    await Promise.all([store.close(), other.close()])
    await remove()
  })

  async function create(by = store): Promise<ServiceResponse> {
    const { text } = await by.createService(orgId, undefined, ({ quota }) =>
      createService(serviceBody(), { ...SERVICE_DEPS, quota }),
    )
    // True because the response is a service.
    return JSON.parse(text) as ServiceResponse
  }

  type Range = Omit<Parameters<MonitoringStore['changedServices']>[0], 'upTo' | 'countMax'>
  const changedIn = async (range: Range): Promise<readonly string[]> => {
    const changed = await store.changedServices({
      ...range,
      upTo: await store.newestCommand(),
      countMax: 100,
    })
    return changed.map(({ serviceId }) => serviceId)
  }

  async function apply(kind: string, body: object, after = sequence) {
    const transition = { sequence: after + 1, atS: 0, serviceId: '', kind, body: JSON.stringify(body) }
    const effect = await store.applyTransition(FILE, after, transition)
    sequence = after + 1
    return effect.kind
  }

  describe(`monitoring in ${name}`, () => {
    test('definitions are read in pages ordered by id, and the page after the last is empty', async () => {
      const ids = (await Promise.all([1, 2, 3].map(() => create()))).map(({ id }) => id).sort()
      const seen: string[] = []
      for (let last = ''; ; ) {
        const page = await store.definitionsAfter(last, 2)
        if (page.length === 0) break
        expect(page.length).toBeLessThanOrEqual(2)
        seen.push(...page.map(({ id }) => id))
        last = page.at(-1)?.id ?? ''
      }

      expect(seen).toEqual([...seen].sort())
      expect(seen).toEqual(expect.arrayContaining(ids))
    })

    test('a definition contains its regions, and a paused one contains none', async () => {
      const { id, regions } = await create()
      const running = await store.definitionOf(id)
      await other.changeService(orgId, id, (now) => pauseService(now, 0))

      expect(running).toMatchObject({ id, orgId, generation: 1, runningIn: regions })
      expect(await store.definitionOf(id)).toMatchObject({ generation: 2, runningIn: [] })
      expect(await store.definitionOf(systemEnvironment.uuid())).toBeUndefined()
    })

    test('changes after a position are those of both programs, once for each service, of the requested region', async () => {
      const after = await store.newestCommand()
      const [mine, theirs] = [await create(), await create(other)]
      await other.changeService(orgId, mine.id, (now) => pauseService(now, 0))

      expect(await changedIn({ after })).toEqual([theirs.id, mine.id])
      expect(await changedIn({ after, region: mine.regions[0] ?? '' })).toEqual([theirs.id, mine.id])
      expect(await changedIn({ after, region: 'nowhere' })).toEqual([])
      expect(await changedIn({ after: await store.newestCommand() })).toEqual([])
      expect(await store.commandsForgottenUpTo()).toBeLessThanOrEqual(after)
    })

    test('services created in one batch are all found after the position before it, whatever the page size', async () => {
      const start = await store.newestCommand()
      const made = (await Promise.all(Array.from({ length: 5 }, () => create()))).map(({ id }) => id)
      const upTo = await store.newestCommand()
      const seen: string[] = []
      for (let after = start; ; ) {
        const page = await store.changedServices({ after, upTo, countMax: 2 })
        if (page.length === 0) break
        seen.push(...page.map(({ serviceId }) => serviceId))
        after = page.at(-1)?.sequence ?? after
      }

      expect(seen.sort()).toEqual(made.sort())
    })

    test('changes of settings send no command, and the newest change of each service is found', async () => {
      const { id } = await create()
      const [quiet, commands] = [await store.newestQuietChange(), await store.newestCommand()]
      const change = (threshold: number) =>
        other.changeService(orgId, id, (now) => setAutoIncidents(now, { threshold, windowMinutes: 10 }))
      await change(2)
      await change(3)

      const changes = await store.quietChanges(quiet, 10)
      expect(changes.map(({ serviceId }) => serviceId)).toEqual([id])
      expect(await store.quietChanges(changes[0]?.sequence ?? 0, 10)).toEqual([])
      expect(await store.newestCommand()).toBe(commands)
    })

    test('an endpoint gets one number, even from two programs', async () => {
      const { id: serviceId, endpoints } = await create()
      const named = endpoints.map(({ id }) => ({ id, serviceId }))

      await Promise.all([store, other].map((one) => one.numberEndpoints(named)))
      const first = await store.endpointNumbers([serviceId])
      await store.numberEndpoints(named)

      expect([...first.keys()].sort()).toEqual(endpoints.map(({ id }) => id).sort())
      expect(await other.endpointNumbers([serviceId])).toEqual(first)
      expect(Math.min(...first.values())).toBeGreaterThan(0)
    })

    test('the numbers of a deleted service are removed a week after its end was noticed', async () => {
      const { id: serviceId, endpoints } = await create()
      await store.numberEndpoints(endpoints.map(({ id }) => ({ id, serviceId })))
      const day = 24 * 60 * 60 * 1_000
      const count = async () => (await store.endpointNumbers([serviceId])).size
      await store.tidy(0)
      const active = await count()
      await store.changeService(orgId, serviceId, deleteService)
      await store.tidy(1)
      const ended = await count()
      await store.tidy(7 * day + 2)

      expect([active, ended, await count()]).toEqual([endpoints.length, endpoints.length, 0])
    })

    test('the policy names the retention of the plan and the maintenance windows that have not ended', async () => {
      const { id } = await create()
      const window = { id: systemEnvironment.uuid(), orgId, title: 'Move', serviceIds: [id] }
      const times = { startsAt: '2026-01-01T00:00:00.000Z', endsAt: '2026-01-01T01:00:00.000Z' }
      await store.createMaintenance({ ...window, ...times }, OPERATOR, 0)
      const fromS = Date.parse(times.startsAt) / 1_000

      const policy = await store.historyPolicy(0)
      expect(policy.retention.get(orgId)).toEqual({ resultsDays: 90, hoursDays: 396 })
      expect(policy.maintenance).toContainEqual({ serviceId: id, fromS, untilS: fromS + 3_600 })
      expect((await store.historyPolicy((fromS + 3_600) * 1_000)).maintenance).toEqual([])
    })

    test('transitions are marked as applied in order, and another results file starts again', async () => {
      await apply('service.state', {})
      const at = sequence

      await expect(apply('service.state', {}, at + 1)).rejects.toThrow('in order')
      const together = await Promise.all([1, 2, 3].map((step) => apply('agent.lost', {}, at + step - 1)))
      await expect(
        store.applyTransition('other', 5, { sequence: 6, atS: 0, serviceId: '', kind: 'x', body: '{}' }),
      ).rejects.toThrow('in order')

      expect(together).toEqual(['nothing', 'nothing', 'nothing'])
      sequence = at + 3
      expect([await store.appliedTransition(FILE), await store.appliedTransition('other')]).toEqual([
        at + 3,
        0,
      ])
    })

    test('a certificate notice is given once for each threshold, and announced with its endpoints', async () => {
      const service = await create()
      const endpointId = service.endpoints[0]?.id ?? ''
      await store.numberEndpoints([{ id: endpointId, serviceId: service.id }])
      const channelId = await channelTools(store).createChannel(orgId, [service.id])
      const notice: CertificateNotice = {
        ...{ org_id: orgId, host: 'shop.example', port: 443, fingerprint: 'ab', not_after_s: 2_000_000_000 },
        ...{ subject: 'CN=shop', issuer: 'CN=ca', days_left: 14, threshold_s: 1_209_600 },
        endpoint_ids: [endpointId, systemEnvironment.uuid()],
      }

      const kinds = [
        await apply('certificate.expiring', notice),
        await apply('certificate.expiring', notice),
        await apply('certificate.expiring', { ...notice, threshold_s: 604_800 }),
        await apply('certificate.expiring', notice),
      ]
      const deliveries = await store.listDeliveries({ id: channelId, orgId }, { countMax: 10 })
      const [due] = await store.dueDeliveries(0, (all) => all.filter((one) => one.channelId === channelId))

      expect(kinds).toEqual(['noticed', 'nothing', 'noticed', 'nothing'])
      expect(deliveries.map(({ type }) => type)).toEqual(['certificate.expiring', 'certificate.expiring'])
      expect(JSON.parse(due?.body ?? '').data.endpoints).toEqual([
        {
          id: endpointId,
          name: service.endpoints[0]?.name ?? null,
          service: { id: service.id, name: service.name },
        },
      ])
    })

    test('the last report of an agent replaces the earlier one', async () => {
      const id = systemEnvironment.uuid()
      const hash = createHash('sha256').update(id).digest()
      await store.createAgentToken({ id, region: 'eu-west-1', name: 'one', hash, last4: 'abcd', nowMs: 0 })
      const unseen = (await store.listAgentTokens()).find((token) => token.id === id)
      const report = {
        ...{ tokenId: id, seenAtMs: 1, agents: 2, version: '0.2.0', clockAheadMs: -3 },
        ...{ spooled: 4, checksInFlight: 5 },
      }
      await store.recordAgentReports([report])
      await other.recordAgentReports([{ ...report, agents: 0 }])

      expect(unseen?.report).toBeNull()
      const seen = (await store.listAgentTokens()).find((token) => token.id === id)
      expect(seen?.report).toEqual({ ...report, agents: 0 })
    })
  })
}
