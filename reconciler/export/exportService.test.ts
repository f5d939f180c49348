import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalRequest, canonicalResponse } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import {
  endpointInputSchema,
  type ServiceResponse,
  serviceRequestSchema,
} from '../../api/contract/service.ts'
import { cases } from '../../scripts/testing/torture.ts'
import { compileSet } from '../manifest/compile/serviceSet.ts'
import { readYaml } from '../manifest/read/readYaml.ts'
import { assertions as apiAssertions } from '../testing/assertionArbitrary.ts'
import { exportKeys, exportService, variableNames, variablesOf } from './exportService.ts'
import { manifestText } from './manifestText.ts'
import { withSharedDefaults } from './sharedDefaults.ts'

const seconds = fc.integer({ min: 0, max: 59 })
const trap = fc.constantFrom(
  'yes',
  '1.0',
  'null',
  '~',
  ' x ',
  '2020-01-01',
  '# no comment',
  'a: b',
  '{a}',
  '0x1f',
  '🦉',
  '"',
  '1e3',
  `\${var.a}`,
  `$\${var.a:-b} \${var.`,
)
const text = fc.oneof(fc.string(), trap)
const latin = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'aé-: #\'"\t') }),
  trap.filter((value) => value !== '🦉'),
)
const sensitive = (plain: fc.Arbitrary<string>) =>
  fc.oneof(
    plain.map((Plain) => ({ Plain })),
    fc.constant({ Sealed: { key_id: 'k' } }),
  )
const timeout = fc.oneof(
  fc.constant(null),
  fc.record({ secs: seconds, nanos: fc.integer({ min: 1, max: 999_999_999 }) }),
)
const endpoint: fc.Arbitrary<ServiceResponse['endpoints'][number]> = fc.record({
  id: fc.constant('1e0ea0a5-0b5b-43cb-8a3c-e4b5b2ad5a0f'),
  url: fc.constantFrom(
    'https://example.com/',
    'http://10.0.0.1:8080/a?b=c#d',
    `https://example.com/\${var.a}`,
  ),
  name: fc.option(text.filter((name) => endpointInputSchema.shape.name.safeParse(name).success)),
  blocked: fc.boolean(),
  call: fc.record({
    Http: fc.record({
      method: fc.constantFrom('GET', 'POST'),
      timeout,
      body: fc.option(sensitive(text)),
      headers: fc.option(
        fc.dictionary(fc.constantFrom('Accept', 'x-a', 'Authorization', '1'), sensitive(latin), {
          maxKeys: 3,
        }),
      ),
      max_redirects_to_follow: fc.option(fc.nat()),
      with_dns: fc.option(fc.boolean()),
    }),
  }),
  assertions: fc.array(apiAssertions, { maxLength: 3 }),
})
const service: fc.Arbitrary<ServiceResponse> = fc.record({
  id: fc.constant('6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e'),
  org_id: fc.constant('0d5d6a1c-fc18-4b73-8d20-4d9c02c1d3a1'),
  name: text.filter((name) => serviceRequestSchema.shape.name.safeParse(name).success),
  interval_secs: fc.integer({ min: 1, max: 2_147_483_647 }),
  regions: fc.uniqueArray(fc.constantFrom('eu-west-1', 'us-east-1', 'no'), { minLength: 1 }),
  endpoints: fc.array(endpoint, { minLength: 1, maxLength: 3 }),
  created_at: fc.constant('2026-01-01T00:00:00.000Z'),
  auto_incident_enabled: fc.constant(false),
})

test('a service that is exported as YAML and compiled again is unchanged', () => {
  fc.assert(
    fc.property(service, (exported) => {
      const key = exportKeys([exported.name])[0] ?? ''
      const read = readYaml({
        file: 'a.yaml',
        directory: '',
        text: manifestText(exportService(exported, key)),
      })
      const set = compileSet(read.documents, {
        env: {},
        secretsDirectory: '/nowhere',
        rootDirectory: '/nowhere',
        allowInlineSecrets: false,
        secrets: 'optional',
      })

      expect([...read.problems, ...set.problems]).toEqual([])
      const compiled = canonicalRequest(set.services[0]!.request, () => 'set')
      expect(changesBetween(canonicalResponse(exported), compiled, 'set-is-equal')).toEqual([])
      expect(set.services[0]?.id).toBe(exported.id)
    }),
    { numRuns: cases(150, 2_000) },
  )
})

test('services compile to the same with their common part in Defaults as without Defaults', () => {
  const compiled = (documents: readonly object[]) => {
    const text = documents.map((document) => `---\n${manifestText(document)}`).join('')
    const set = compileSet(readYaml({ file: 'a.yaml', directory: '', text }).documents, {
      env: {},
      secretsDirectory: '/nowhere',
      rootDirectory: '/nowhere',
      allowInlineSecrets: false,
      secrets: 'optional',
    })
    expect(set.problems).toEqual([])
    return set.services.map(({ key, request, paused }) => ({ key, request, paused }))
  }
  const alike = fc.record({
    interval: fc.constantFrom(60, 300),
    timeout: fc.constantFrom(null, { secs: 5, nanos: 0 }),
  })
  fc.assert(
    fc.property(fc.array(fc.tuple(service, alike), { minLength: 3, maxLength: 6 }), (services) => {
      const manifests = services.map(([one, { interval, timeout: shared }], index) => {
        const endpoints = one.endpoints.map((endpointOfOne) => ({
          ...endpointOfOne,
          call: { Http: { ...endpointOfOne.call.Http, timeout: shared } },
        }))
        const id = `6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f${String(index).padStart(2, '0')}`
        return exportService({ ...one, id, interval_secs: interval, endpoints }, `s${index}`)
      })
      const { defaults, manifests: factored } = withSharedDefaults(manifests)

      expect(defaults).toBeDefined()
      expect(compiled([...(defaults === undefined ? [] : [defaults]), ...factored])).toEqual(
        compiled(manifests),
      )
    }),
    { numRuns: cases(25, 1_000) },
  )
})

test('Defaults contain the values of most services and of all endpoints, and manifests only the differences', () => {
  const endpoint = { url: 'https://example.com/', timeout: '5s', assertions: [{ status: 200 }] }
  const of = (name: string, interval: string, more: object = {}) => ({
    ...{ apiVersion: 'pharos/v1', kind: 'Service', metadata: { name } },
    spec: { interval, regions: ['eu-west-1'], endpoints: [{ ...endpoint, ...more }] },
  })
  const manifests = [of('a', '1m'), of('b', '30s', { timeout: '10s' }), of('c', '1m')]

  const { defaults, manifests: factored } = withSharedDefaults(manifests)

  expect(defaults).toMatchObject({
    kind: 'Defaults',
    spec: {
      interval: '1m',
      regions: ['eu-west-1'],
      endpointsDefaults: { assertions: [{ status: 200 }] },
    },
  })
  expect(factored.map((manifest) => 'spec' in manifest && manifest.spec)).toEqual([
    { endpoints: [{ url: 'https://example.com/', timeout: '5s' }] },
    { interval: '30s', endpoints: [{ url: 'https://example.com/', timeout: '10s' }] },
    { endpoints: [{ url: 'https://example.com/', timeout: '5s' }] },
  ])
  expect(withSharedDefaults(manifests.slice(0, 2))).toEqual({
    defaults: undefined,
    manifests: manifests.slice(0, 2),
  })
})

test('every service gets a unique, valid manifest name', () => {
  expect(exportKeys(['Shop API', 'shop api', 'Über/Shop!', '☃', '☃', '-.-'])).toEqual([
    'shop-api',
    'shop-api-2',
    'uber-shop',
    'service',
    'service-2',
    'service-3',
  ])
})

test('each secret of an export is read from its own variable', () => {
  const sealed = (names: readonly string[]) => ({
    id: '1e0ea0a5-0b5b-43cb-8a3c-e4b5b2ad5a0f',
    url: 'https://example.com/',
    name: null,
    blocked: false,
    call: {
      Http: {
        method: 'GET' as const,
        timeout: null,
        body: null,
        headers: Object.fromEntries(names.map((name) => [name, { Sealed: { key_id: 'k' } }])),
        max_redirects_to_follow: null,
        with_dns: null,
      },
    },
    assertions: [],
  })
  const service = (endpoints: ServiceResponse['endpoints']): ServiceResponse => ({
    id: '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e',
    org_id: '0d5d6a1c-fc18-4b73-8d20-4d9c02c1d3a1',
    name: 'Shop',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints,
    created_at: '2026-01-01T00:00:00.000Z',
    auto_incident_enabled: false,
  })
  const variable = variableNames()
  const manifests = [
    exportService(service([sealed([]), sealed(['X-Key', 'X_Key'])]), 'shop', variable),
    exportService(service([sealed(['X-Key'])]), 'shop-2', variable),
  ]

  expect(variablesOf(manifests)).toEqual(['SHOP_2_X_KEY', 'SHOP_2_X_KEY_2', 'SHOP_2_X_KEY_3'])
})
