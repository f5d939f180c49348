import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import { originOfPerson } from '../../domain/changeOrigin.ts'
import {
  pauseService,
  replaceService,
  type Service,
  type ServiceChange,
} from '../../domain/serviceChanges.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import type { ServiceFacts } from '../../store/store.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { SERVICE_DEPS } from '../../testing/storedServices.ts'
import { startConsoleServer } from '../testing/startConsoleServer.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
/** When the server of the test is, which the test moves. */
const clock = { nowMs: Date.UTC(2026, 10, 22, 5) }

const server = await startConsoleServer({
  environment: {
    ...systemEnvironment,
    nowMs: () => clock.nowMs,
  },
})
afterAll(() => server.close())

test('the sync page shows what manages each service, first those with another definition than their code, and unused keys', async () => {
  const orgId = await server.createOrg({ name: 'Synced' })
  const key = await server.createKey({ orgId })
  const create = async (name: string, userAgent: string): Promise<string> => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'user-agent': userAgent,
    }
    const body = JSON.stringify(serviceBody({ name }))
    const response = await fetch(`${server.url}/v1/services`, { method: 'POST', headers, body })
    // True because the response is a service.
    return ((await response.json()) as ServiceResponse).id
  }
  const alpha = await create('alpha', 'terraform-provider-pharos/1.2.0')
  const omega = await create('omega', 'pharos/1.3.0')
  const script = await create('<i>script</i>', 'curl/8.1')
  const change = (id: string, decide: (service: Service, facts: ServiceFacts) => ServiceChange | null) =>
    server.store.changeService(orgId, id, (service, facts) => {
      const decided = decide(service, facts)
      return decided === null ? null : { ...decided, origin: originOfPerson(randomUUID(), clock.nowMs) }
    })
  for (const id of [omega, script]) {
    await change(id, (service, { quota }) =>
      replaceService(service, serviceBody({ name: service.response.name }), { ...SERVICE_DEPS, quota }),
    )
  }
  await change(alpha, (service) => pauseService(service, clock.nowMs))
  clock.nowMs += 31 * DAY_MS
  const owner = await server.signIn('owner', { orgId })
  const viewer = await server.signIn('viewer', { orgId })
  const { text } = await owner.client.get(`${owner.root}/sync`)
  const pages = [omega, script].map(
    async (id) => (await viewer.client.get(`${viewer.root}/services/${id}`)).text,
  )
  const reverted = (await Promise.all(pages)).map((page) => page.includes('the next apply reverts that'))
  const seen = await viewer.client.get(`${viewer.root}/sync?tool=Terraform`)

  const order = ['omega', '&lt;i&gt;script&lt;/i&gt;', 'alpha'].map((name) =>
    text.indexOf(`<bdi>${name}</bdi>`),
  )
  expect(order.toSorted((a, b) => a - b)).toEqual(order)
  expect(order).not.toContain(-1)
  expect(text).toContain('1 service differs from code')
  expect(text.match(/Differs since <time datetime="2026-11-22T05:00:00.000Z">/g)).toHaveLength(1)
  expect(reverted).toEqual([true, false])
  expect(text).toContain('terraform-provider-pharos 1.2.0')
  expect(text).toContain('API keys not used for 30 days')
  expect(seen.text).toContain('<bdi>alpha</bdi>')
  expect(seen.text).not.toContain('omega')
  expect(seen.text).not.toContain('API keys not used')
})

test('the sync page shows 100 services at a time', async () => {
  const orgId = await server.createOrg({ name: 'Many', plan: 'enterprise' })
  const api = {
    authorization: `Bearer ${await server.createKey({ orgId })}`,
    'content-type': 'application/json',
  }
  await Promise.all(
    Array.from({ length: 101 }, (_, index) =>
      fetch(`${server.url}/v1/services`, {
        ...{ method: 'POST', headers: api },
        body: JSON.stringify(serviceBody({ name: `service-${String(index).padStart(3, '0')}` })),
      }),
    ),
  )
  const { client, root } = await server.signIn('viewer', { orgId })
  const first = await client.get(`${root}/sync`)
  const last = await client.get(`${root}/sync?page=2`)

  expect(first.text.match(/<th scope="row">/g)).toHaveLength(100)
  expect(first.text).toContain('Page 1 of 2')
  expect(last.text).toContain('service-100')
  expect(last.text.match(/<th scope="row">/g)).toHaveLength(1)
})
