import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../server/testing/startServer.ts'
import { pharosProvider } from './pharosProvider.ts'
import { serveForReattach } from './protocol/reattach.ts'
import { connect } from './protocol/testing/providerClient.ts'
import { openCore, type PlainObject, type TerraformCore } from './protocol/testing/terraformCore.ts'
import { startRecordingProxy } from './testing/recordingProxy.ts'

const apiKey = `pharos_${'a1'.repeat(32)}`
const url = 'http://127.0.0.1:9'
const service: PlainObject = {
  name: 'checkout',
  interval: '60s',
  regions: ['eu-west-1'],
  endpoints: [{ url: 'https://example.com/', http: { method: 'GET' } }],
}

let server: TestServer
const closing: (() => void | Promise<void>)[] = []
beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
})
afterAll(async () => {
  for (const close of closing.splice(0)) await close()
  await server.close()
})

async function providerIn(environment: NodeJS.ProcessEnv): Promise<TerraformCore> {
  const served = await serveForReattach(pharosProvider('1.2.3', environment), ['pharos/pharos'])
  const client = connect(served.target)
  closing.push(() => {
    client.close()
    served.close()
  })
  return openCore(client)
}

test.each<[string, PlainObject, NodeJS.ProcessEnv]>([
  ['the configuration', { url, api_key: apiKey }, {}],
  ['the environment', {}, { PHAROS_URL: url, PHAROS_API_KEY: apiKey }],
  ['both, of which the configuration wins', { url }, { PHAROS_URL: 'nonsense', PHAROS_API_KEY: apiKey }],
])('settings are read from %s, without a request', async (_name, config, environment) => {
  const core = await providerIn(environment)

  expect(await core.configure(config)).toEqual([])
})

test.each<[string, PlainObject, string, string]>([
  ['no URL', { api_key: apiKey }, 'url', 'Set url, or the environment variable PHAROS_URL.'],
  ['no key', { url }, 'api_key', 'Set the environment variable PHAROS_API_KEY, or api_key.'],
  [
    'another scheme',
    { url: 'ftp://a', api_key: apiKey },
    'url',
    'The API URL must be an absolute http:// or https:// URL.',
  ],
  [
    'a key of another form',
    { url, api_key: 'canary' },
    'api_key',
    'The API key must be a prefix such as pharos_, followed by 64 hexadecimal characters.',
  ],
  [
    'an empty guard',
    { url, api_key: apiKey, expected_org_id: '' },
    'expected_org_id',
    'expected_org_id, or the environment variable PHAROS_EXPECTED_ORG_ID, must be the UUID of an organisation. ' +
      'Omit it to accept a key of any organisation.',
  ],
])('%s is one error at the attribute, without its value', async (_name, config, path, detail) => {
  const core = await providerIn({})

  const [problem, ...others] = await core.configure(config)

  expect(problem).toMatchObject({ severity: 'error', path, detail })
  expect(others).toEqual([])
  expect(JSON.stringify(problem)).not.toContain('canary')
})

test('unknown settings are no error in the plan, and the apply names them and says what to do', async () => {
  const { UNKNOWN } = await import('./protocol/values/value.ts')
  const core = await providerIn({ PHAROS_URL: url, PHAROS_API_KEY: apiKey })

  const configured = await core.configure({ ca_file: UNKNOWN, create_guard: UNKNOWN })
  const plan = await core.plan('pharos_service', service)
  const applied = await core.apply('pharos_service', plan)

  expect(configured).toEqual([])
  expect(plan.diagnostics).toEqual([])
  const detail =
    'These settings of the provider "pharos" depend on values that are only known after apply: ca_file, ' +
    'create_guard. Apply their sources first with -target, or leave them out of the provider block and set ' +
    'PHAROS_CA_FILE.'
  expect(applied.diagnostics).toMatchObject([{ summary: 'The provider is not configured yet', detail }])
})

test('Scenario 72: requests have versions in their user agent, and expected_org_id is verified before the first of them', async () => {
  const proxy = await startRecordingProxy(server.url)
  closing.push(() => proxy.close())
  const environment = { PHAROS_URL: proxy.url, PHAROS_API_KEY: server.apiKey, TF_APPEND_USER_AGENT: 'ci/7\n' }
  const guarded = await providerIn({
    ...environment,
    PHAROS_EXPECTED_ORG_ID: '00000000-0000-4000-8000-000000000000',
  })
  const free = await providerIn({ ...environment, PHAROS_EXPECTED_ORG_ID: server.orgId.toUpperCase() })

  await guarded.configure({})
  const refused = await guarded.apply('pharos_service', await guarded.plan('pharos_service', service))
  const writes = proxy.requests().filter((line) => !line.startsWith('GET'))
  await free.configure({})
  const created = await free.apply('pharos_service', await free.plan('pharos_service', service))

  expect(refused.diagnostics).toMatchObject([{ summary: 'API key of another organisation' }])
  expect(writes).toEqual([])
  expect(created.diagnostics).toEqual([])
  expect(proxy.userAgents.at(-1)).toMatch(/^terraform-provider-pharos\/1\.2\.3 terraform\/\S+ ci\/7$/)
})

test('a plan of new services with a refused key fails, with one error', async () => {
  const core = await providerIn({ PHAROS_URL: server.url, PHAROS_API_KEY: apiKey })
  await core.configure({})

  const plans = [await core.plan('pharos_service', service), await core.plan('pharos_service', service)]

  const detail =
    'The API responded: unauthorized. The API key is missing, malformed or revoked (status 401): check api_key of ' +
    'the provider (or PHAROS_API_KEY).'
  expect(plans.map(({ diagnostics }) => diagnostics)).toMatchObject([
    [{ severity: 'error', summary: 'Cannot read the regions', detail }],
    [],
  ])
})

test('a plan that cannot read the regions says what to do', async () => {
  const core = await providerIn({ PHAROS_URL: `${server.url}/v1`, PHAROS_API_KEY: server.apiKey })
  await core.configure({})

  const { diagnostics } = await core.plan('pharos_service', service)

  const detail =
    `The list of regions could not be read. The response cannot be used: ${server.url}/v1 does not look like the ` +
    'API: GET /v1/regions got status 404 (the address ends before /v1, and has a path only if a proxy needs one). ' +
    'Check url of the provider (or PHAROS_URL), and any proxy in front of the API.'
  expect(diagnostics).toMatchObject([{ severity: 'warning', path: 'regions', detail }])
})
