import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deleteService, pauseService } from '../../domain/serviceChanges.ts'
import type { StatusPageChange } from '../../domain/statusPages/definition.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import type { Store } from '../store.ts'
import { type ChannelTools, channelTools } from './channelSuite.ts'
import type { MakeEngine } from './storeSuite.ts'

const BY = { kind: 'cli' } as const
const BOUNDS = { countMax: 10, updatesMax: 1 }

/** Tests of status pages for every database behind Store, with two programs on one database. */
export function pageSuite(name: string, makeEngine: MakeEngine): void {
  let store: Store
  /** That of another program. */
  let other: Store
  let remove: () => Promise<void>
  let tools: ChannelTools
  beforeAll(async () => {
    const empty = await makeEngine()
    remove = empty.remove
    store = await empty.engine.open('serve')
    other = await empty.engine.open('administer')
    await store.activateMasterKey('first', 0)
    tools = channelTools(store)
  })
  afterAll(async () => {
    await Promise.all([store.close(), other.close()])
    await remove()
  })

  const newSlug = (): string => `page-${systemEnvironment.uuid()}`

  function create(program: Store, orgId: string, slug: string, change: StatusPageChange = {}) {
    const settings = { title: 'Example', ...change, slug }
    return program.createStatusPage({ id: systemEnvironment.uuid(), orgId, nowMs: 0, settings })
  }

  const listing = (...serviceIds: readonly string[]) => [
    { name: 'Shop', components: serviceIds.map((serviceId) => ({ serviceId, name: undefined })) },
  ]

  describe(`${name}: status pages`, () => {
    test('when two programs give two pages the same slug or host at once, the second is refused', async () => {
      const [slug, host] = [newSlug(), `${systemEnvironment.uuid()}.example.org`]
      const orgs = [await tools.createOrg(), await tools.createOrg()] as const
      const created = await Promise.allSettled([create(store, orgs[0], slug), create(other, orgs[1], slug)])
      const pages = [
        await create(store, orgs[0], newSlug()),
        await create(store, orgs[1], newSlug()),
      ] as const
      const renamed = newSlug()
      const changed = await Promise.allSettled([
        store.changeStatusPage(pages[0].id, { slug: renamed }),
        other.changeStatusPage(pages[1].id, { slug: renamed }),
      ])
      const bound = await Promise.allSettled([
        store.bindStatusHost(pages[0].id, host),
        other.bindStatusHost(pages[1].id, host),
      ])

      const refusals = (results: readonly PromiseSettledResult<unknown>[]) =>
        results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason.message)] : []))
      expect(refusals(created)).toEqual([`the slug ${slug} is taken: choose another one`])
      expect(refusals(changed)).toEqual([`the slug ${renamed} is taken: choose another one`])
      expect(refusals(bound)).toEqual([expect.stringContaining(`${host} is bound to the page`)])
      expect((await other.publishedPage({ kind: 'host', host }))?.orgId).toBeOneOf([...orgs])
    })

    test('of two simultaneous changes of a page the second is refused, and the first is kept', async () => {
      const page = await create(store, await tools.createOrg(), newSlug())
      const edit = { by: BY, generation: page.generation }

      const changes = await Promise.allSettled([
        store.changeStatusPage(page.id, { title: 'one' }, edit),
        other.changeStatusPage(page.id, { title: 'two' }, edit),
      ])
      const refused = changes.filter(({ status }) => status === 'rejected')

      expect(refused).toMatchObject([{ reason: { code: 'conflict' } }])
      expect(await store.getStatusPage(page.id)).toMatchObject({
        title: changes[0].status === 'fulfilled' ? 'one' : 'two',
        generation: page.generation + 1,
      })
    })

    test('a component keeps its id while its service is listed, and is removed with it', async () => {
      const orgId = await tools.createOrg()
      const [one, two] = [await tools.createService(orgId), await tools.createService(orgId)]
      const page = await create(store, orgId, newSlug(), { sections: listing(one, two) })
      const moved = await store.changeStatusPage(page.id, { sections: listing(two, one) })
      await store.changeService(orgId, one, (service) => pauseService(service, 0))
      await store.changeService(orgId, two, (service) => deleteService(service))

      const left = (await other.publishedPage({ kind: 'slug', slug: page.slug }))?.sections[0]?.components
      const [first, second] = page.sections[0]?.components ?? []

      expect(moved.sections[0]?.components).toEqual([second, first])
      expect(left).toEqual([{ ...first, isPaused: true }])
      await expect(store.changeStatusPage(page.id, { sections: listing(two) })).rejects.toThrow(
        'has no service',
      )
      await expect(store.changeStatusPage(page.id, { sections: listing(one, one) })).rejects.toThrow(
        'listed twice',
      )
    })

    test('a page shows incidents and maintenance windows of its services, except hidden ones', async () => {
      const orgId = await tools.createOrg()
      const [listed, unlisted] = [await tools.createService(orgId), await tools.createService(orgId)]
      const shown = await tools.incident(orgId, listed)
      await tools.update(orgId, shown.id)
      await tools.incident(orgId, unlisted)
      const hidden = await tools.incident(orgId, listed)
      const window = { id: systemEnvironment.uuid(), orgId, title: 'Upgrade', serviceIds: [unlisted, listed] }
      const times = { startsAt: '2090-01-01T10:00:00.000Z', endsAt: '2090-01-01T11:00:00.000Z' }
      await store.createMaintenance({ ...window, ...times }, BY, 0)
      await store.changeMaintenance({ ...window, ...times, title: 'Upgrades' }, BY, 1)
      const change = { sections: listing(listed), hide: [hidden.display_id] }
      const page = await create(store, orgId, newSlug(), change)

      const [incident, ...others] = await store.pageIncidents(page, { kind: 'open' }, BOUNDS)
      const period = { from: '2090-01-01T10:30:00.000Z', until: '2091-01-01T00:00:00.000Z' }
      const windows = await store.pageWindows(page, period, 10)
      const later = await store.pageWindows(page, { ...period, from: times.endsAt }, 10)
      const month = { from: '1970-01-01', until: '1970-02-01' }
      const numberOf = Number(shown.display_id.slice('INC-'.length))
      const found = [
        await store.pageIncidents(page, { kind: 'created', ...month }, BOUNDS),
        await store.pageIncidents(page, { kind: 'one', number: numberOf }, BOUNDS),
        await store.pageIncidents(page, { kind: 'resolved since', from: month.from }, BOUNDS),
      ]

      expect([incident?.displayId, others]).toEqual([shown.display_id, []])
      expect(incident).toMatchObject({ serviceIds: [listed], earlierUpdates: 1, updates: [{ body: 'x' }] })
      expect([
        windows.map(({ title, updatedAt, serviceIds }) => [title, updatedAt, serviceIds]),
        later,
      ]).toEqual([[['Upgrades', '1970-01-01T00:00:00.001Z', [listed]]], []])
      expect(found.map((incidents) => incidents.map(({ id }) => id))).toEqual([[shown.id], [shown.id], []])
      expect(await store.oldestPageIncident(page)).toBe('1970-01-01T00:00:00.000Z')
      expect((await store.getStatusPage(page.id)).hiddenIncidents).toEqual([hidden.display_id])
      await expect(store.changeStatusPage(page.id, { show: ['INC-99'] })).rejects.toThrow(
        'no incident INC-99',
      )
    })

    test('open incidents of services are found with their severities, and those of a page without hidden ones', async () => {
      const orgId = await tools.createOrg()
      const [listed, unlisted] = [await tools.createService(orgId), await tools.createService(orgId)]
      const hidden = await tools.incident(orgId, listed, 'major_outage')
      await tools.incident(orgId, listed, 'partial_outage')
      const newest = await tools.incident(orgId, listed, 'partial_outage')
      const other = await tools.incident(orgId, unlisted, 'degraded_performance')
      const resolved = await tools.incident(orgId, unlisted, 'major_outage')
      await tools.update(orgId, resolved.id, 'resolved')
      const window = { id: systemEnvironment.uuid(), orgId, title: 'Upgrade', serviceIds: [listed] }
      const times = { startsAt: '2090-01-01T10:00:00.000Z', endsAt: '2090-01-01T11:00:00.000Z' }
      await store.createMaintenance({ ...window, ...times }, BY, 0)
      const change = { sections: listing(listed), hide: [hidden.display_id] }
      const page = await create(store, orgId, newSlug(), change)
      const none = await create(store, orgId, newSlug(), { ...change, incidentsShown: 'none' })

      const open = await store.openIncidents(orgId)
      const shown = [...open].map(
        ([
          id,
          {
            newest: { display_id },
            severities,
          },
        ]) => [id, display_id, [...severities].sort()] as const,
      )

      expect(new Set(shown)).toEqual(
        new Set([
          [listed, newest.display_id, ['major_outage', 'partial_outage']],
          [unlisted, other.display_id, ['degraded_performance']],
        ]),
      )
      expect(open.get(listed)?.newest.id).toBe(newest.id)
      expect(await store.pageSeverities(page)).toEqual(new Map([[listed, ['partial_outage']]]))
      expect(await store.pageSeverities(none)).toEqual(new Map())
    })

    test('the change count changes with writes of this program and of others', async () => {
      const orgId = await tools.createOrg()
      const page = await create(store, orgId, newSlug())
      const grows = async (write: () => Promise<unknown>) => {
        const before = store.changeCount()
        await write()
        await expect.poll(() => store.changeCount(), { timeout: 30_000 }).not.toBe(before)
      }

      await grows(() => store.changeStatusPage(page.id, { title: 'new' }))
      await grows(() => other.changeStatusPage(page.id, { title: 'newer' }))
      await grows(() => other.deleteStatusPage(page.id))

      expect(await store.publishedPage({ kind: 'slug', slug: page.slug })).toBeUndefined()
    })
  })
}
