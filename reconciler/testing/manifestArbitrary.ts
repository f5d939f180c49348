import fc from 'fast-check'
import { endpointInputSchema, serviceRequestSchema } from '../../api/contract/service.ts'

/** A manifest as plain data. */
export type PlainManifest = { readonly [field: string]: unknown }

const key = fc.stringMatching(/^[a-z0-9]([-a-z0-9._]{0,12}[a-z0-9])?$/)
/** Texts that YAML reads as something else unless they are quoted, and others that are easily broken. */
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom(
    'yes',
    'null',
    '~',
    ' x ',
    '2020-01-01',
    '# no',
    'a: b',
    '{a}',
    '0x1f',
    '🦉',
    '"',
    '1e3',
    'a\nb\n',
    '012',
    '-',
    '? x',
    "it's",
  ),
)
const interval = fc.constantFrom('30s', '1m', '1m30s', '2h', '1000ms')
const duration = fc.constantFrom('500ms', '1.5s', '10s', '1us', '999999999ns')
const comparison = fc.constantFrom('< 500ms', '<= 1s', '100ms..500ms', '<1.5s')
const status = fc.integer({ min: 100, max: 599 })
const optional = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined })

const matcher = fc
  .tuple(
    fc.constantFrom('equals', 'contains', 'startsWith', 'endsWith', 'regex'),
    fc.constantFrom('ok', '^1.0', 'a b', 'yes'),
  )
  .map(([kind, operand]) => ({ [kind]: operand }))
const statusForm = fc.oneof(
  status,
  fc.constantFrom('2xx', '5xx'),
  fc
    .tuple(fc.constantFrom('eq', 'not', 'lt', 'lte', 'gt', 'gte'), status)
    .map(([kind, value]) => ({ [kind]: value })),
  fc.tuple(status, status).map(([a, b]) => ({ between: [Math.min(a, b), Math.max(a, b)] })),
  fc.array(status, { minLength: 1, maxLength: 4 }).map((oneOf) => ({ oneOf })),
)
const assertion = fc.oneof(
  statusForm.map((form) => ({ status: form })),
  fc
    .tuple(fc.constantFrom('headers', 'body', 'total'), comparison)
    .map(([part, form]) => ({ latency: { [part]: form } })),
  comparison.map((dns) => ({ dns })),
  matcher.map((form) => ({ header: { name: 'content-type', ...form } })),
  matcher.map((body) => ({ body })),
  fc.constantFrom(
    { raw: { StatusCode: { expected: { GreaterOrEqual: 200 } } } },
    { raw: { DnsResoltion: { expected: { LessThan: { secs: 1, nanos: 0 } } } } },
    { raw: { Latency: { l_type: 'BodyLatency', expected: { LessOrEqual: { secs: 0, nanos: 5 } } } } },
    { raw: { Header: { name: 'x-a', matcher: { Equals: 'yes' } } } },
  ),
)
const value = fc.oneof(
  fc.constantFrom('text/html', '1.0', 'yes', ' x'),
  fc.record(
    {
      env: fc.constantFrom('TOKEN', 'A_1'),
      prefix: optional(fc.constant('Bearer ')),
      allowEmpty: optional(fc.boolean()),
    },
    { noNullPrototype: true },
  ),
  fc.constantFrom({ file: '/run/secrets/token' }, { value: 'x' }, { value: 'x', sensitive: false }),
)
const headers = fc.dictionary(fc.constantFrom('Accept', 'X-A', 'Authorization', '1', 'null'), value, {
  maxKeys: 3,
  noNullPrototype: true,
})
const endpointFields = {
  name: optional(fc.option(text.filter((name) => endpointInputSchema.shape.name.safeParse(name).success))),
  method: optional(fc.constantFrom('GET', 'POST', null)),
  timeout: optional(fc.option(duration)),
  maxRedirects: optional(fc.option(fc.nat({ max: 20 }))),
  withDns: optional(fc.option(fc.boolean())),
  headers: optional(fc.option(headers)),
  body: optional(fc.option(value)),
  assertions: optional(fc.option(fc.array(assertion, { maxLength: 4 }))),
}
const endpoint = fc.record(
  { url: fc.constantFrom('https://example.com/', 'http://10.0.0.1:8080/a?b=c#d'), ...endpointFields },
  { noNullPrototype: true },
)
const regions = fc.uniqueArray(fc.constantFrom('eu-west-1', 'us-east-1', 'no'), { minLength: 1 })
const policy = optional(
  fc.record(
    {
      onDelete: optional(fc.constantFrom('delete', 'pause', 'detach')),
      protect: optional(fc.boolean()),
      pruneAfter: optional(fc.constantFrom('24h', '0s')),
      ignore: optional(fc.subarray(['/spec/regions', '/spec/endpoints/0/timeout'])),
      drift: optional(fc.constantFrom('heal', 'report', 'ignore')),
    },
    { noNullPrototype: true },
  ),
)
const labels = optional(fc.dictionary(fc.constantFrom('team', 'tier'), text, { noNullPrototype: true }))

/** Valid Service documents over the whole grammar. */
export const serviceManifests: fc.Arbitrary<PlainManifest> = fc
  .record(
    {
      apiVersion: fc.constant('pharos/v1'),
      kind: fc.constant('Service'),
      metadata: fc.record(
        {
          name: key,
          labels,
          id: optional(fc.uuid()),
          previousNames: optional(fc.array(key, { maxLength: 2 })),
        },
        { noNullPrototype: true },
      ),
      spec: fc.record(
        {
          name: optional(text.filter((name) => serviceRequestSchema.shape.name.safeParse(name).success)),
          interval,
          regions,
          paused: optional(fc.option(fc.boolean())),
          endpoints: fc.array(endpoint, { minLength: 1, maxLength: 3 }),
        },
        { noNullPrototype: true },
      ),
      policy,
    },
    { noNullPrototype: true },
  )
  .map(withoutAbsent)

const defaultsManifests: fc.Arbitrary<PlainManifest> = fc
  .record(
    {
      apiVersion: fc.constant('pharos/v1'),
      kind: fc.constant('Defaults'),
      spec: optional(
        fc.record(
          {
            interval: optional(interval),
            regions: optional(regions),
            paused: optional(fc.option(fc.boolean())),
            endpointsDefaults: optional(fc.record(endpointFields, { noNullPrototype: true })),
          },
          { noNullPrototype: true },
        ),
      ),
      policy,
    },
    { noNullPrototype: true },
  )
  .map(withoutAbsent)

const environmentManifests: fc.Arbitrary<PlainManifest> = fc
  .record(
    {
      apiVersion: fc.constant('pharos/v1'),
      kind: fc.constant('Environment'),
      metadata: fc.record({ name: key }, { noNullPrototype: true }),
      spec: fc.record(
        {
          vars: optional(
            fc.dictionary(fc.constantFrom('host', '_x1'), fc.oneof(text, fc.integer(), fc.boolean()), {
              noNullPrototype: true,
            }),
          ),
          patches: optional(
            fc.array(
              fc.record(
                {
                  target: fc.record({ name: optional(key), labels }, { noNullPrototype: true }),
                  patch: fc.constantFrom({}, { spec: { interval: '5m' } }, { policy: { drift: null } }),
                },
                { noNullPrototype: true },
              ),
              { maxLength: 2 },
            ),
          ),
        },
        { noNullPrototype: true },
      ),
    },
    { noNullPrototype: true },
  )
  .map(withoutAbsent)

/** Valid documents of every kind. */
export const manifests: fc.Arbitrary<PlainManifest> = fc.oneof(
  { weight: 4, arbitrary: serviceManifests },
  defaultsManifests,
  environmentManifests,
)

function withoutAbsent(manifest: PlainManifest): PlainManifest {
  return JSON.parse(JSON.stringify(manifest))
}
