import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../../scripts/testing/torture.ts'
import { compileSet } from '../manifest/compile/serviceSet.ts'
import { readYaml } from '../manifest/read/readYaml.ts'
import { withoutReferences } from '../manifest/values/variables.ts'
import { endpointsOf, specOf } from './manifestParts.ts'
import { manifestText } from './manifestText.ts'
import { withSharedOrigins } from './sharedOrigins.ts'

/** A manifest as `exportService` makes it of a service with endpoints at `urls`, which are their bodies too. */
const exported = (name: string, urls: readonly string[]) => ({
  apiVersion: 'pharos/v1',
  kind: 'Service',
  metadata: { name },
  spec: withoutReferences({
    interval: '1m',
    regions: ['eu-west-1'],
    endpoints: urls.map((url) => ({ url, body: url })),
  }),
})

const urlsIn = (manifests: readonly object[]) =>
  manifests.map((one) => endpointsOf(specOf(one)).map(({ url }) => url))

/** The requests that `documents` compile to. */
function compiled(documents: readonly object[], environment?: string) {
  const text = documents.map((document) => `---\n${manifestText(document)}`).join('')
  const read = readYaml({ file: 'a.yaml', directory: '', text })
  const sources = {
    env: {},
    secretsDirectory: '/nowhere',
    rootDirectory: '/nowhere',
    allowInlineSecrets: false,
    secrets: 'optional' as const,
  }
  const set = compileSet(read.documents, sources, environment)
  expect([...read.problems, ...set.problems]).toEqual([])
  return set.services.map(({ request }) => request)
}

test('an origin used by two endpoints becomes a variable, and one used by a single endpoint stays in its URL', () => {
  const { environment, manifests } = withSharedOrigins(
    [
      exported('shop', ['https://shop.example.com/a', 'https://once.example.com/']),
      exported('cart', ['https://shop.example.com?b', 'https://shop.example.com:8443/']),
    ],
    'production',
  )

  expect(environment).toEqual({
    apiVersion: 'pharos/v1',
    kind: 'Environment',
    metadata: { name: 'production' },
    spec: { vars: { shop_example_com: 'https://shop.example.com' } },
  })
  expect(urlsIn(manifests)).toEqual([
    [`\${var.shop_example_com}/a`, 'https://once.example.com/'],
    [`\${var.shop_example_com}?b`, 'https://shop.example.com:8443/'],
  ])
})

test.each([
  [['https://Shop.Example.com:8443'], ['shop_example_com_8443']],
  [['http://shop.example.com'], ['http_shop_example_com']],
  [
    ['https://10.0.0.1', 'http://10.0.0.1:80'],
    ['http_10_0_0_1_80', 'https_10_0_0_1'],
  ],
  [['https://[::1]:8080'], ['https_1_8080']],
  [['https://münchen.example'], ['munchen_example']],
  [['https://日本'], ['https']],
  [
    ['https://__proto__', 'https://null'],
    ['proto', 'null'],
  ],
  [
    ['https://a.b', 'https://a-b', 'https://a-b-2', 'http://x', 'https://http.x'],
    ['http_x', 'a_b', 'a_b_2', 'a_b_3', 'http_x_2'],
  ],
])('the variables of the origins %j are %j', (origins, names) => {
  const services = (urls: readonly string[]) => [exported('a', urls), exported('b', urls)]

  const { environment } = withSharedOrigins(services(origins), 'e')
  const reordered = withSharedOrigins(services(origins.toReversed()), 'e')

  expect(specOf(environment).vars).toEqual(
    Object.fromEntries([...origins].sort().map((origin, index) => [names[index], origin])),
  )
  expect(reordered.environment).toEqual(environment)
})

test('a URL that contains variable syntax keeps it, and its origin becomes no variable when the syntax is in the host', () => {
  const urls = [`https://a.example/\${var.x}$\${var.`, `https://\${var.x}/`, `https://a.example\${var.x}`]
  const manifests = [exported('a', urls), exported('b', urls)]

  const shared = withSharedOrigins(manifests, 'e')

  expect(specOf(shared.environment).vars).toEqual({ a_example: 'https://a.example' })
  expect(compiled([shared.environment, ...shared.manifests], 'e')).toEqual(compiled(manifests))
})

test('an Environment never exceeds the maximum of variables; further origins stay in their URLs', () => {
  const hosts = Array.from({ length: 10_001 }, (_, index) => `https://h${10_000 + index}`)
  const services = ['a', 'b'].map((name) => exported(name, hosts))

  const { environment, manifests } = withSharedOrigins(services, 'e')

  expect(Object.keys(specOf(environment).vars ?? {})).toHaveLength(10_000)
  expect(urlsIn(manifests).map((urls) => urls.slice(-2))).toEqual(
    Array(2).fill([`\${var.h19999}`, 'https://h20000']),
  )
})

const url = fc
  .tuple(
    fc.constantFrom('https://', 'http://', 'HTTPS://'),
    fc.constantFrom(
      'a.b',
      'a-b',
      'a_b',
      'a-b-2',
      'A.b',
      'ü.b',
      '日本',
      '10.0.0.1',
      '[::1]',
      'http.a.b',
      'yes',
    ),
    fc.constantFrom('', ':8080', ':80'),
    fc.constantFrom('', '/', '/a?b#c', '?a', '#a', `/\${var.a}`, `?$\${var.a:-b}\${var.`),
  )
  .map((parts) => parts.join(''))

test('services compile to the same with variables for shared origins as without', () => {
  fc.assert(
    fc.property(fc.array(fc.array(url, { minLength: 1, maxLength: 3 }), { minLength: 1 }), (services) => {
      const manifests = services.map((urls, index) => exported(`s${index}`, urls))

      const shared = withSharedOrigins(manifests, 'e')

      expect(compiled([shared.environment, ...shared.manifests], 'e')).toEqual(compiled(manifests))
    }),
    { numRuns: cases(100, 2_000) },
  )
})
