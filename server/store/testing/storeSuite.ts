import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UNKNOWN_SOURCE } from '../../../api/contract/changeSource.ts'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import { type ChangeOrigin, managementOf, originOfPerson } from '../../domain/changeOrigin.ts'
import {
  createService,
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

/** An engine without a database yet, and its clean-up. */
export interface EmptyEngine {
  readonly engine: Engine
  readonly remove: () => Promise<void>
}

const DAY_MS = 24 * 60 * 60 * 1_000

const limited = { status: 'rejected', reason: { message: 'plan limit: at most 2 active services' } }
const made = { status: 'fulfilled' }

/** Makes an engine whose stores have the wall clock `nowMs`; it stands at 0 when absent. */
export type MakeEngine = (nowMs?: () => number) => Promise<EmptyEngine>

/** Tests for every database behind Engine and Store, for the database called `name`. */
export function storeSuite(name: string, makeEngine: MakeEngine): void {
  let engine: Engine
  let store: Store
  let remove: () => Promise<void>
  beforeAll(async () => {
    const empty = await makeEngine()
    ;({ engine, remove } = empty)
    expect(await engine.exists()).toBe(false)
    store = await engine.open('serve')
    await store.activateMasterKey('first', 0)
  })
  afterAll(async () => {
    await store.close()
    await remove()
  })

  async function createOrg(): Promise<string> {
    const id = systemEnvironment.uuid()
    await store.createOrg({ id, name: 'Acme', plan: 'business', nowMs: 0 })
    return id
  }

  /** Requested together with others, and so decided in the same transaction. */
  function create(orgId: string, definition: ServiceRequest = serviceBody()) {
    return store.createService(orgId, undefined, ({ quota }) =>
      createService(definition, { ...SERVICE_DEPS, quota }),
    )
  }

  async function idOf(rendered: ReturnType<typeof create>): Promise<string> {
    return String(Object(JSON.parse((await rendered).text)).id)
  }

  /** Position of a reader that has read every command. */
  async function endOfCommands() {
    let cursor = (await store.commandsAfter('', 0)).next
    for (;;) {
      const { commands, next } = await store.commandsAfter(cursor, 500)
      if (commands.length === 0) return cursor
      cursor = next
    }
  }

  describe(`${name}: engine`, () => {
    test('an opened database exists, and is the same store when it is opened again', async () => {
      const again = await engine.open('administer')

      expect([await engine.exists(), again.storeId]).toEqual([true, store.storeId])
      await again.close()
    })

    test('a lock excludes all others until it is released, and locks of different names are independent', async () => {
      const release = await engine.lock('rotation')

      await expect(engine.lock('rotation')).rejects.toThrow('is being rotated')
      await (await engine.lock('serve'))()
      await release()
      await (await engine.lock('rotation'))()
    })
  })

  describe(`${name}: limits of plans`, () => {
    test('limits that another program changed apply to the next creation', async () => {
      const orgId = await createOrg()
      await create(orgId)
      const other = await engine.open('administer')
      await other.overrideLimits(orgId, { servicesMax: 2 })
      await create(orgId)
      await other.overrideLimits(orgId, { servicesMax: 1 })
      await other.close()

      await expect(create(orgId)).rejects.toThrow('plan limit: at most 1 active services')
    })

    test('the usage of an organisation is not affected by creations of another in between', async () => {
      const [one, other] = [await createOrg(), await createOrg()]
      for (const orgId of [one, other]) await store.overrideLimits(orgId, { servicesMax: 2 })

      const results = await Promise.allSettled([one, other, one, other, one, other].map((id) => create(id)))

      expect(results).toMatchObject([made, made, made, made, limited, limited])
    })

    test('a creation that was rolled back is not counted', async () => {
      const orgId = await createOrg()
      await store.overrideLimits(orgId, { servicesMax: 2 })
      const twice = systemEnvironment.uuid()
      const same = () =>
        store.createService(orgId, undefined, ({ quota }) =>
          createService(serviceBody(), { ...SERVICE_DEPS, quota, uuid: () => twice }),
        )

      const results = await Promise.allSettled([same(), same(), create(orgId), create(orgId)])

      expect(results).toMatchObject([made, { status: 'rejected' }, made, limited])
    })
  })

  describe(`${name}: maintenance windows`, () => {
    test('of two simultaneous changes of a window the second is refused, and the first is kept', async () => {
      const orgId = await createOrg()
      const serviceIds = [await idOf(create(orgId))]
      const id = systemEnvironment.uuid()
      const times = { startsAt: '2090-01-01T10:00:00.000Z', endsAt: '2090-01-01T11:00:00.000Z' }
      const seen = { id, orgId, title: 'seen', ...times, serviceIds }
      const by = { kind: 'cli' } as const
      await store.createMaintenance(seen, by, 0)

      const [first, second] = await Promise.allSettled([
        store.changeMaintenance({ ...seen, title: 'first' }, by, 0, seen),
        store.changeMaintenance({ ...seen, title: 'second' }, by, 0, seen),
      ])
      const titles = (await store.listMaintenance(orgId)).map(({ title }) => title)

      const refused = { status: 'rejected', reason: { code: 'conflict' } }
      expect([first, second].filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect([first, second].find(({ status }) => status === 'rejected')).toMatchObject(refused)
      expect(titles).toEqual([first?.status === 'fulfilled' ? 'first' : 'second'])
    })
  })

  describe(`${name}: tokens of agents`, () => {
    const token = (id: string, region: string) => ({
      ...{ id, region, name: 'dublin', hash: Buffer.from(id), last4: '0a1b', nowMs: 0 },
    })

    test('the first token of a region makes it remote, and later ones keep the mode', async () => {
      await store.createAgentToken(token('first', 'eu-west-1'))
      const modes = await store.regionModes()
      await store.setRegionMode('eu-west-1', 'embedded')
      await store.createAgentToken(token('second', 'eu-west-1'))

      expect([modes.get('eu-west-1'), modes.get('us-east-1')]).toEqual(['remote', undefined])
      expect((await store.regionModes()).get('eu-west-1')).toBe('embedded')
    })

    test('a token is found by its hash until it is revoked, and always listed', async () => {
      await store.createAgentToken(token('third', 'us-west-1'))
      const found = await store.agentTokenOf(Buffer.from('third'))
      await store.revokeAgentToken('third', 1_000)
      const listed = (await store.listAgentTokens()).find(({ id }) => id === 'third')

      expect(found).toEqual({ id: 'third', region: 'us-west-1', name: 'dublin' })
      expect(await store.agentTokenOf(Buffer.from('third'))).toBeUndefined()
      expect(listed).toMatchObject({ last4: '0a1b', revokedAt: '1970-01-01T00:00:01.000Z' })
      await expect(store.revokeAgentToken('nothing', 0)).rejects.toThrow('there is no agent token nothing')
    })
  })

  describe(`${name}: past generations`, () => {
    const origin = (tool: string): ChangeOrigin => ({
      ...{ at: '2026-01-01T00:00:00.000Z', tool, toolVersion: null, keyId: 'key', personId: null },
      ...UNKNOWN_SOURCE,
    })

    test('a generation is kept with its origin and definition for the retention of results, and then removed', async () => {
      const orgId = await createOrg()
      const { text } = await store.createService(orgId, undefined, ({ quota }) => ({
        ...createService(serviceBody(), { ...SERVICE_DEPS, quota }),
        origin: origin('first'),
      }))
      const id = String(JSON.parse(text).id)
      await store.changeService(orgId, id, (service, { quota }) => ({
        ...replaceService(service, serviceBody({ name: 'Newest' }), { ...SERVICE_DEPS, quota }),
        origin: origin('second'),
      }))

      const kept = await store.generationsOf(id)
      const untilMs = kept[1]?.untilMs ?? 0
      await store.tidy(untilMs + 30 * DAY_MS)
      const inTime = await store.generationsOf(id)
      await store.tidy(untilMs + 30 * DAY_MS + 1)

      const toolsOf = (generations: typeof kept) =>
        generations.map((one) => [one.generation, one.origin?.tool])
      expect(toolsOf(kept)).toEqual([
        [2, 'second'],
        [1, 'first'],
      ])
      expect(kept.map(({ definition }) => JSON.parse(definition ?? '').name)).toEqual(['Newest', 'Checkout'])
      expect(inTime).toEqual(kept)
      expect(toolsOf(await store.generationsOf(id))).toEqual([[2, 'second']])
    })

    test('settings of automatic incidents and pauses, which no definition contains, keep the origin of the definition', async () => {
      const orgId = await createOrg()
      const { text } = await store.createService(orgId, undefined, ({ quota }) => ({
        ...createService(serviceBody(), { ...SERVICE_DEPS, quota }),
        origin: origin('terraform-provider-pharos'),
      }))
      const id = String(JSON.parse(text).id)
      await store.changeService(orgId, id, (service) => {
        const change = setAutoIncidents(service, { threshold: 3, windowMinutes: 10 })
        return change === null ? null : { ...change, origin: originOfPerson('ada', 0) }
      })
      await store.changeService(orgId, id, (service) => setAutoIncidents(service, null))
      const byAda = { origin: originOfPerson('ada', 0) }
      await store.changeService(orgId, id, (service) => {
        const change = pauseService(service, 0)
        return change === null ? null : { ...change, ...byAda }
      })
      await store.changeService(orgId, id, (service, { quota }) => {
        const change = resumeService(service, quota)
        return change === null ? null : { ...change, ...byAda }
      })
      const [listed] = await store.listOrigins(orgId)
      const authors = (await store.listAudit(orgId, 10)).map(({ action, actor }) => [action, actor])

      expect(managementOf(listed?.origins ?? [])).toEqual({
        ...{ manager: 'Terraform', origin: origin('terraform-provider-pharos'), differsSince: null },
      })
      expect((await store.generationsOf(id)).map(({ generation }) => generation)).toEqual([5, 4, 3, 2, 1])
      expect(authors).toContainEqual(['service.set_auto_incidents', 'ada'])
      expect(authors).toContainEqual(['service.pause', 'ada'])
    })

    test('a change that is rolled back leaves no generation behind', async () => {
      const orgId = await createOrg()
      const id = await idOf(create(orgId))

      const change = store.changeService(orgId, id, (service, { quota }) => ({
        ...replaceService(service, serviceBody(), { ...SERVICE_DEPS, quota }),
        commands: [{ type: 'EndServiceMonitoring', region: 'x', serviceId: id, generation: Number.NaN }],
      }))

      await expect(change).rejects.toThrow()
      expect((await store.generationsOf(id)).map(({ generation }) => generation)).toEqual([1])
    })
  })

  describe(`${name}: outbox`, () => {
    test('commands are read in order, a page at a time, each once', async () => {
      const orgId = await createOrg()
      const before = await endOfCommands()
      for (const regions of [['eu-west-1', 'us-east-1'], ['us-east-1']])
        await create(orgId, serviceBody({ regions }))

      const first = await store.commandsAfter(before, 2)
      const second = await store.commandsAfter(first.next, 2)
      const last = await store.commandsAfter(second.next, 2)

      const regionsOf = ({ commands }: typeof first) => commands.map(({ region }) => region)
      expect([first, second, last].map(regionsOf)).toEqual([['eu-west-1', 'us-east-1'], ['us-east-1'], []])
      expect(last.next).toBe(second.next)
    })

    test('when two programs move a reader from the same position, one succeeds', async () => {
      await create(await createOrg())
      const end = await endOfCommands()

      const moves = [await store.moveCursor('reader', '', end), await store.moveCursor('reader', '', end)]

      expect([moves, await store.cursorOf('reader'), await store.cursorOf('never')]).toEqual([
        [true, false],
        end,
        '',
      ])
      expect(await store.moveCursor('reader', `${systemEnvironment.uuid()}.1`, end)).toBe(false)
    })
  })
}
