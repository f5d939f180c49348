import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import { createService } from '../../domain/serviceChanges.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { openStore } from './openStore.ts'

// Without a server, whose relay would write in between.
const dataDir = await mkdtemp(join(tmpdir(), 'pharos-facts-'))
const store = await openStore(dataDir, systemEnvironment.nowMs)
await store.activateMasterKey('first', 0)
afterAll(async () => {
  await store.close()
  await rm(dataDir, { recursive: true })
})

async function createOrg(): Promise<string> {
  const id = systemEnvironment.uuid()
  await store.createOrg({ id, name: 'Acme', plan: 'business', nowMs: 0 })
  return id
}

const making = {
  ...systemEnvironment,
  nowMs: 0,
  isBlocked: () => false,
  seal: () => {
    throw new Error('the body has no secret')
  },
}

/** Asked together with others, and so decided in the same transaction. */
function create(orgId: string, definition: ServiceRequest = serviceBody()) {
  return store.createService(orgId, undefined, ({ standing }) =>
    createService(definition, { ...making, standing }),
  )
}

const limited = { status: 'rejected', reason: { message: 'plan limit: at most 2 active services' } }
const made = { status: 'fulfilled' }

test('limits that change between two creations of one commit hold for the second', async () => {
  const orgId = await createOrg()

  const results = await Promise.allSettled([
    create(orgId),
    create(orgId),
    store.overrideLimits(orgId, { servicesMax: 2 }),
    create(orgId),
    store.overrideLimits(orgId, { servicesMax: null }),
    create(orgId),
  ])

  expect(results).toMatchObject([made, made, made, limited, made, made])
})

test('limits that another program changed hold for the next creation', async () => {
  const orgId = await createOrg()
  await create(orgId)
  const other = await openStore(dataDir, systemEnvironment.nowMs)
  await other.overrideLimits(orgId, { servicesMax: 2 })
  await create(orgId)
  await other.overrideLimits(orgId, { servicesMax: 1 })
  await other.close()

  await expect(create(orgId)).rejects.toThrow('plan limit: at most 1 active services')
})

test('what one organisation uses is not counted for another whose creations come in between', async () => {
  const [one, other] = [await createOrg(), await createOrg()]
  for (const orgId of [one, other]) await store.overrideLimits(orgId, { servicesMax: 2 })

  const results = await Promise.allSettled([one, other, one, other, one, other].map((id) => create(id)))

  expect(results).toMatchObject([made, made, made, made, limited, limited])
})

test('a creation that was undone is counted for nobody', async () => {
  const orgId = await createOrg()
  await store.overrideLimits(orgId, { servicesMax: 2 })
  const twice = systemEnvironment.uuid()
  const same = () =>
    store.createService(orgId, undefined, ({ standing }) =>
      createService(serviceBody(), { ...making, standing, uuid: () => twice }),
    )

  const results = await Promise.allSettled([same(), same(), create(orgId), create(orgId)])

  expect(results).toMatchObject([made, { status: 'rejected' }, made, limited])
})
