import { describe, expect, test } from 'vitest'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import { startServer } from '../../../server/testing/startServer.ts'
import { changedLines, openScenario, serviceBlock } from '../scenario.ts'
import { cannotRunTerraform } from '../terraformWorkspace.ts'

/** A server that implements only the API document. */
const DOCUMENT_ONLY = { rateLimit: 'none', isPlain: true } as const

const FULL = `
  interval = "90s"
  regions  = ["us-east-1", "eu-west-1"]
  paused   = true
  endpoints = [{
    url  = "https://example.com/a"
    name = "a"
    http = {
      method        = "POST"
      timeout       = "1.5s"
      max_redirects = 3
      with_dns      = true
      body          = { value = "{}" }
      headers       = { Accept = { value = "text/html" }, Authorization = { value_wo = "secret" } }
    }
    assertions = [
      { status_code = { between = [200, 299] } },
      { latency = { phase = "total", lt = "800ms" } },
      { dns_resolution = { lte = "50ms" } },
      { header = { name = "content-type", starts_with = "text/" } },
      { body = { regex = "ok" } },
    ]
  }]
  timeouts = { create = "5m" }
`

const GOLDEN_ENDPOINT = {
  url: 'https://example.com/a',
  name: 'a',
  blocked: false,
  call: {
    Http: {
      method: 'POST',
      timeout: { secs: 1, nanos: 500_000_000 },
      max_redirects_to_follow: 3,
      with_dns: true,
      body: { Plain: '{}' },
      headers: { Accept: { Plain: 'text/html' }, Authorization: { Sealed: { key_id: expect.any(String) } } },
    },
  },
  assertions: [
    { StatusCode: { expected: { Between: [200, 299] } } },
    { Latency: { expected: { LessThan: { secs: 0, nanos: 800_000_000 } } } },
    { DnsResoltion: { expected: { LessOrEqual: { secs: 0, nanos: 50_000_000 } } } },
    { Header: { name: 'content-type', matcher: { StartsWith: 'text/' } } },
    { Body: { matcher: { Regex: 'ok' } } },
  ],
}

const endpoint = (name: string, rest = ''): string =>
  `{ url = "https://example.com/${name}", name = "${name}", http = { method = "GET" } ${rest} }`

describe.skipIf(cannotRunTerraform)('terraform', () => {
  test('Scenarios 2, 3 and 5: the API has what is configured, removed attributes are reset, and an empty plan writes nothing', async () => {
    const { apply, plan, writes, byHand } = await openScenario(await startServer(DOCUMENT_ONLY))

    await apply(serviceBlock('full', FULL))
    const [full] = (await byHand.listServices()).services
    writes()
    const same = await apply(serviceBlock('full', FULL))
    const writtenByNothing = writes()
    await apply(serviceBlock('full'))
    const writtenByRemoval = writes()
    const [minimal] = (await byHand.listServices()).services
    const sameAgain = await plan()

    expect(full).toMatchObject({ name: 'full', interval_secs: 90 })
    expect([...(full?.regions ?? [])].sort()).toEqual(['eu-west-1', 'us-east-1'])
    expect(full?.endpoints).toMatchObject([GOLDEN_ENDPOINT])
    expect(same).toContain('No changes.')
    expect(sameAgain.exitCode).toBe(0)
    expect(writtenByNothing).toEqual([])
    expect(writtenByRemoval).toEqual(['PATCH /v1/services/:id'])
    expect(minimal?.id).toBe(full?.id)
    expect(minimal).toMatchObject({ interval_secs: 60, regions: ['eu-west-1'] })
    expect(minimal?.endpoints[0]?.assertions).toEqual([])
    expect(minimal?.endpoints[0]?.call.Http.body ?? null).toBe(null)
  })

  test('Scenario 4: a change of each single attribute is one PATCH of the same service', async () => {
    const { apply, proxy, byHand } = await openScenario(await startServer(DOCUMENT_ONLY))
    const http = (rest: string): string =>
      `endpoints = [{ url = "https://example.com/", http = { method = "GET", ${rest} } }]`
    const asserted = (assertion: string): string =>
      `endpoints = [{ url = "https://example.com/", http = { method = "GET" }, assertions = [${assertion}] }]`
    const changes = [
      'name = "b"',
      'interval = "2m"',
      'regions = ["us-east-1"]',
      'endpoints = [{ url = "https://example.com/b", http = { method = "GET" } }]',
      'endpoints = [{ url = "https://example.com/", name = "b", http = { method = "GET" } }]',
      'endpoints = [{ url = "https://example.com/", http = { method = "POST" } }]',
      http('timeout = "2s"'),
      http('max_redirects = 1'),
      http('with_dns = true'),
      http('body = { value = "b" }'),
      http('headers = { B = { value = "b" } }'),
      asserted('{ status_code = { eq = 200 } }'),
      asserted('{ latency = { phase = "total", lt = "1s" } }'),
      asserted('{ dns_resolution = { lt = "1s" } }'),
      asserted('{ header = { name = "b", eq = "b" } }'),
      asserted('{ body = { contains = "b" } }'),
    ]
    // A service for each change.
    const services = (restOf: (change: string) => string): string =>
      changes.map((change, index) => serviceBlock(`service_${index}`, restOf(change))).join('')
    await apply(services(() => ''))
    const ids = new Map((await byHand.listServices()).services.map(({ name, id }) => [name, id]))
    proxy.requests()

    await apply(services((change) => change))

    const written = proxy.requests().filter((line) => !line.startsWith('GET'))
    const expected = changes.map((change, index) => [
      change,
      [`PATCH /v1/services/${ids.get(`service_${index}`)}`],
    ])
    const ofEach = changes.map((change, index) => [
      change,
      written.filter((line) => line.includes(ids.get(`service_${index}`) ?? 'no id')),
    ])
    expect(ofEach).toEqual(expected)
    expect(written.length).toBe(changes.length)
  })

  test('Scenario 9: a manual change of the order of regions, endpoints or assertions is no difference', async () => {
    const { apply, plan, byHand } = await openScenario(await startServer(DOCUMENT_ONLY))
    await apply(
      serviceBlock(
        'a',
        `regions   = ["eu-west-1", "us-east-1"]
         endpoints = [
           ${endpoint('one', ', assertions = [{ status_code = { eq = 200 } }, { body = { contains = "x" } }]')},
           ${endpoint('two')},
         ]`,
      ),
    )
    const [{ id, endpoints: [one, two] = [] } = { id: '' }] = (await byHand.listServices()).services
    const of = (found: typeof one): ServiceRequest['endpoints'][number] => ({
      url: found?.url ?? '',
      name: found?.name ?? null,
      call: { Http: { method: 'GET', timeout: null } },
      assertions: [...(found?.assertions ?? [])].reverse(),
    })
    await byHand.replaceService(id, {
      name: 'a',
      interval_secs: 60,
      regions: ['us-east-1', 'eu-west-1'],
      endpoints: [of(two), of(one)],
    })

    const { exitCode, output } = await plan()

    expect({ exitCode, output: changedLines(output) }).toEqual({ exitCode: 0, output: [] })
  })

  test('Scenarios 10 and 11: endpoints that are swapped or removed are changed in place, without nested values known after apply', async () => {
    const { apply, plan, workspace, writes } = await openScenario(await startServer(DOCUMENT_ONLY))
    const [one, two, three] = [endpoint('one'), endpoint('two'), endpoint('three')]
    await apply(serviceBlock('a', `endpoints = [${one}, ${two}, ${three}]`))
    workspace.configure(serviceBlock('a', `endpoints = [${two}, ${one}, ${three}]`))
    const swapped = await plan()
    workspace.configure(serviceBlock('a', `endpoints = [${two}, ${three}]`))
    const removed = await plan()
    writes()
    await apply(serviceBlock('a', `endpoints = [${two}, ${three}]`))

    expect(swapped.output).toContain('0 to add, 1 to change, 0 to destroy')
    expect(removed.output).toContain('0 to add, 1 to change, 0 to destroy')
    for (const { output } of [swapped, removed]) {
      const [, nested = ''] = /~ endpoints +=(.*?)\n {6}[^ ~]/s.exec(output) ?? []
      expect(nested).not.toContain('known after apply')
      expect(
        changedLines(output).filter((line) => /interval|regions|paused|name +=.*many/.test(line)),
      ).toEqual([])
    }
    expect(writes()).toEqual(['PATCH /v1/services/:id'])
    expect((await plan()).exitCode).toBe(0)
  })

  test('an update sends what the plan shows: values that ignore_changes keeps, with the secrets of the configuration', async () => {
    const { apply, plan, byHand } = await openScenario(await startServer(DOCUMENT_ONLY))
    const configured = (name: string, ignored: string) =>
      serviceBlock(
        'a',
        `name = "${name}"
         interval = "${name === 'one' ? '60s' : '90s'}"
         endpoints = [{
           url  = "https://example.com/${name}"
           http = {
             method  = "POST"
             body    = { value_wo = "secret" }
             headers = { Authorization = { value_wo = "secret" }, Accept = { value = "${name}" } }
           }
         }]
         lifecycle { ignore_changes = [${ignored}] }`,
      )
    await apply(configured('one', ''))

    await apply(configured('two', 'endpoints, interval'))
    const [all] = (await byHand.listServices()).services
    await apply(configured('three', 'endpoints[0].url'))
    const [one] = (await byHand.listServices()).services

    expect(all).toMatchObject({
      name: 'two',
      interval_secs: 60,
      endpoints: [
        {
          url: 'https://example.com/one',
          call: {
            Http: {
              body: { Sealed: {} },
              headers: { Authorization: { Sealed: {} }, Accept: { Plain: 'one' } },
            },
          },
        },
      ],
    })
    expect(one).toMatchObject({
      name: 'three',
      interval_secs: 90,
      endpoints: [
        { url: 'https://example.com/one', call: { Http: { headers: { Accept: { Plain: 'three' } } } } },
      ],
    })
    expect((await plan()).exitCode).toBe(0)
  })

  test('Scenario 13: a service that is created paused is paused by the very next request', async () => {
    const { apply, writes } = await openScenario(await startServer(DOCUMENT_ONLY))

    await apply(serviceBlock('a', 'paused = true'))

    expect(writes()).toEqual(['POST /v1/services', 'POST /v1/services/:id/pause'])
  })

  test('Scenarios 14 and 15: a pause is sent before a change in the same apply and a resume after it, and neither alone sends a definition', async () => {
    const { apply, proxy, writes, byHand } = await openScenario(await startServer(DOCUMENT_ONLY))
    const service = (label: string, isPaused: boolean, interval: string): string =>
      serviceBlock(label, `paused = ${isPaused}\n interval = "${interval}"`)
    await apply(
      service('resumed', true, '60s') +
        service('paused', false, '60s') +
        service('changed_and_resumed', true, '60s') +
        service('paused_and_changed', false, '60s'),
    )
    const created = writes()

    await apply(
      service('resumed', false, '60s') +
        service('paused', true, '60s') +
        service('changed_and_resumed', false, '90s') +
        service('paused_and_changed', true, '90s'),
    )

    const requests = proxy.requests().filter((line) => !line.startsWith('GET'))
    const { services } = await byHand.listServices()
    const written = services.map(({ name, id }) => [
      name,
      requests.filter((line) => line.includes(id)).map((line) => line.replace(`/v1/services/${id}`, ':id')),
    ])
    expect(created.filter((line) => line === 'POST /v1/services').length).toBe(4)
    expect(created.filter((line) => line === 'POST /v1/services/:id/pause').length).toBe(2)
    expect(Object.fromEntries(written)).toEqual({
      resumed: ['POST :id/resume'],
      paused: ['POST :id/pause'],
      changed_and_resumed: ['PATCH :id', 'POST :id/resume'],
      paused_and_changed: ['POST :id/pause', 'PATCH :id'],
    })
  })

  test('Scenario 19: a created service that can neither be paused nor deleted is kept, and the message says how to continue', async () => {
    const { workspace, proxy, byHand } = await openScenario(await startServer(DOCUMENT_ONLY))
    workspace.configure(serviceBlock('asleep', 'paused = true'))
    proxy.refuseNext('POST', /\/pause$/, 403, 'no')
    proxy.refuseNext('DELETE', /\/services\//, 403, 'no')

    const failed = await workspace.run(['apply', '-auto-approve'])
    const { services } = await byHand.listServices()
    const state = workspace.attributes('pharos_service.asleep')

    expect(failed.exitCode).toBe(1)
    expect(failed.output.replaceAll(/\s+/g, ' ')).toMatch(/untaint/)
    expect(services.length).toBe(1)
    expect(state.id).toBe(services[0]?.id)
  })

  test('Scenario 20: a paused service is imported without a difference where paused is left out and durations are spelled otherwise', async () => {
    const { apply, byHand, workspace } = await openScenario(await startServer(DOCUMENT_ONLY))
    const latency = '{ latency = { phase = "total", between = ["1000ms", "60s"] } }'
    const slow = `endpoints = [${endpoint('slow', `, assertions = [${latency}]`)}]`
    const configuration = serviceBlock('a', `interval = "60000ms"\n ${slow}`)
    await apply(configuration)
    const [service] = (await byHand.listServices()).services
    await byHand.pauseService(service?.id ?? '')
    workspace.forget()

    const output = await apply(`${configuration}
      import {
        to = pharos_service.a
        id = "${service?.id}"
      }`)

    expect(output).toContain('1 imported, 0 added, 0 changed, 0 destroyed')
  })
})
