import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { EndpointInput } from '../../api/contract/service.ts'
import { type CheckedServer, startHttpServer } from '../../monitoring/check/testing/checkedServer.ts'
import { type DnsServer, startDnsServer } from '../../monitoring/check/testing/dnsServer.ts'
import { LOCAL_SPELLINGS } from '../../monitoring/check/testing/localSpellings.ts'
import { rootReason } from '../testing/rootReason.ts'
import { endpointBody } from '../testing/serviceBodies.ts'
import { type AgentPrograms, agentPrograms, REGION, until } from './testing/agentPrograms.ts'

/** The only address that may be dialled here, in place of a public one. */
const PUBLIC = '127.0.0.2'
/** Where nothing may connect to, on the port of the public server. */
const DECOYS = ['127.0.0.1', '127.255.255.254', '127.0.0.3', '::1'] as const
/** Of the name server, which only the programs ask. */
const NAME_SERVER = { address: '127.0.0.54', port: 53 }
/** A region that the server checks itself. */
const EMBEDDED = 'us-east-1'
const SECRET = 'body-of-the-post'

let programs: AgentPrograms
let shop: CheckedServer
let decoys: readonly CheckedServer[]
let names: DnsServer
let under: readonly string[]
beforeEach(async () => {
  const redirects = new Map<string, readonly [number, string]>()
  shop = await startHttpServer(
    (request, response) => {
      const [status, location] = redirects.get(request.url ?? '') ?? [200, undefined]
      response.writeHead(status, location === undefined ? {} : { Location: location }).end('ok')
    },
    { host: PUBLIC },
  )
  const { port } = shop
  for (const [index, host] of LOCAL_SPELLINGS.entries()) {
    redirects.set(`/to/${index}`, [302, Buffer.from(`http://${host}:${port}/`).toString('latin1')])
  }
  redirects.set('/chain', [301, '/chain/2'])
  redirects.set('/chain/2', [303, `http://public.example:${port}/chain/3`])
  redirects.set('/chain/3', [308, `//private.example:${port}/`])
  redirects.set('/post', [307, `http://127.0.0.1:${port}/`])
  redirects.set('/user', [302, `http://${PUBLIC}@127.0.0.1:${port}/`])
  redirects.set('/tls', [302, `https://localhost:${port}/`])
  redirects.set('/rebind', [302, `http://rebind.example:${port}/`])
  decoys = await Promise.all(
    DECOYS.map((host) => startHttpServer((_request, response) => response.end('secret'), { host, port })),
  )
  const rebind = (question: number) => (question % 2 === 0 ? [PUBLIC] : ['127.0.0.1'])
  names = await startDnsServer(
    {
      'public.example': () => [PUBLIC],
      'private.example': () => ['127.0.0.1', '127.0.0.3'],
      'mixed.example': () => ['127.0.0.1', PUBLIC],
      'rebind.example': rebind,
    },
    0,
    NAME_SERVER,
  )
  const resolvers = join(tmpdir(), `pharos-resolvers-${process.pid}`)
  writeFileSync(resolvers, `nameserver ${NAME_SERVER.address}\n`)
  under = ['unshare', '-m', 'sh', '-c', `mount --bind ${resolvers} /etc/resolv.conf && exec "$0" "$@"`]
  programs = await agentPrograms(`${PUBLIC}/32`, { under })
})
afterEach(async () => {
  await programs.close()
  await Promise.all([shop, ...decoys, names].map((one) => one.close()))
})

const post = { Http: { method: 'POST' as const, timeout: null, body: { value: SECRET, sensitive: false } } }

const create = (endpoints: readonly EndpointInput[]) =>
  programs.create({ endpoints: [...endpoints], regions: [REGION, EMBEDDED], interval_secs: 2 })

/** How a URL is created that the API may refuse. */
async function tryToCreate(url: string): Promise<void> {
  await create([endpointBody({ url })]).catch((error: Error) => {
    if (!error.message.includes('url')) throw error
  })
}

test.skipIf(rootReason !== null)(
  `no spelling, name, redirect or second answer of a name server leads an agent or the server to a forbidden address${rootReason === null ? '' : ` (${rootReason})`}`,
  {
    timeout: 300_000,
  },
  async () => {
    await programs.startServer()
    await programs.startAgent([], { under }).wrote('"connected"')
    const { port } = shop
    const direct = [...LOCAL_SPELLINGS, 'private.example'].map((host) =>
      endpointBody({ url: `http://${host}:${port}/` }),
    )
    const led = [
      ...LOCAL_SPELLINGS.map((_, index) =>
        endpointBody({ url: `http://public.example:${port}/to/${index}` }),
      ),
      ...['/chain', '/user', '/tls'].map((path) =>
        endpointBody({ url: `http://public.example:${port}${path}` }),
      ),
      endpointBody({ url: `http://public.example:${port}/post`, call: post }),
    ]
    const rebinding = [
      endpointBody({ url: `http://public.example:${port}/rebind` }),
      endpointBody({ url: `http://rebind.example:${port}/` }),
    ]
    const mixed = endpointBody({ url: `http://mixed.example:${port}/` })

    const service = await create([...direct, ...led, ...rebinding, mixed])
    for (const host of ['[::1%25lo]', '[fe80::1%25lo]', '[::1%lo]', `${PUBLIC}@127.0.0.1`, 'a:b@localhost']) {
      await tryToCreate(`http://${host}:${port}/`)
    }
    const pairs = service.endpoints.flatMap(({ id }) => [REGION, EMBEDDED].map((region) => `${id} ${region}`))
    const outcomesOf = async () => {
      const results = await programs.resultsOf(service.id)
      // A busy machine may leave slots out.
      const made = results.filter(({ reason }) => !['not_checked', 'agent_busy'].includes(reason))
      const found = new Map<string, string[]>(pairs.map((pair) => [pair, []]))
      for (const { endpoint_id, region, outcome, reason } of made) {
        found.get(`${endpoint_id} ${region}`)?.push(`${outcome} ${reason}`)
      }
      return [...found.values()]
    }
    await until(async () => (await outcomesOf()).every((outcomes) => outcomes.length > 2))
    const outcomes = await outcomesOf()
    const distinct = (from: number, to?: number) => new Set(outcomes.slice(from, to).flat())
    const leading = 2 * (direct.length + led.length)

    expect(decoys.map((decoy) => decoy.connections())).toEqual(DECOYS.map(() => 0))
    // A redirect with a user in its address is no valid one.
    expect(distinct(0, leading)).toEqual(new Set(['unknown address_forbidden', 'down redirect_invalid']))
    expect(distinct(leading, leading + 2 * rebinding.length)).toContain('unknown address_forbidden')
    expect(distinct(leading + 2 * rebinding.length)).toEqual(new Set(['up none']))
    expect(shop.connections()).toBeGreaterThan(leading)
  },
)
