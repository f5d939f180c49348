import type { Assertion, ServiceEndpointsAssertions } from 'pharos/cdktf'
import type { Library, Stack } from './libraries.ts'

/** What Terraform would take for an expression; the linter too, were it in one piece. */
const EXPRESSION = ['$', '{x}'].join('')

/** What the layer takes where nothing is said. */
const SUCCESS = { statusCode: { between: [200, 299] } }

/** Every kind and operator, as the layer says it and as the bindings do. */
function everyAssertion({
  body,
  dns,
  header,
  latency,
  status,
}: Library['pharos']): readonly (readonly [Assertion, ServiceEndpointsAssertions])[] {
  return [
    [status.is(200), { statusCode: { eq: 200 } }],
    [status.isNot(404), { statusCode: { ne: 404 } }],
    [status.above(199), { statusCode: { gt: 199 } }],
    [status.atLeast(200), { statusCode: { gte: 200 } }],
    [status.below(300), { statusCode: { lt: 300 } }],
    [status.atMost(299), { statusCode: { lte: 299 } }],
    [status.oneOf(200, 204), { statusCode: { oneOf: [200, 204] } }],
    [latency.headers.between('1ms', '1.5s'), { latency: { phase: 'headers', between: ['1ms', '1.5s'] } }],
    [latency.body.atMost('2s'), { latency: { phase: 'body', lte: '2s' } }],
    [dns.below('1s'), { dnsResolution: { lt: '1s' } }],
    [dns.between('0s', '1s'), { dnsResolution: { between: ['0s', '1s'] } }],
    [header('X-A').equals('a'), { header: { name: 'X-A', eq: 'a' } }],
    [header('X-A').startsWith('a'), { header: { name: 'X-A', startsWith: 'a' } }],
    [header('X-A').endsWith('a'), { header: { name: 'X-A', endsWith: 'a' } }],
    [header('X-A').matches('a'), { header: { name: 'X-A', regex: 'a' } }],
    [body.equals('a'), { body: { eq: 'a' } }],
    [body.contains('a'), { body: { contains: 'a' } }],
    [body.startsWith('a'), { body: { startsWith: 'a' } }],
    [body.endsWith('a'), { body: { endsWith: 'a' } }],
  ]
}

/** Everything that the layer can say, in its words. */
export function servicesByLayer({ terraform, pharos }: Library, stack: Stack): void {
  const { body, dns, get, header, latency, post, secretFromEnv, secretFromVariable, secretText, status } =
    pharos
  new pharos.PharosProvider(stack, 'pharos')
  const password = new terraform.TerraformVariable(stack, 'password', { type: 'string', sensitive: true })
  const token = secretFromEnv('TF_VAR_probe_token')

  new pharos.MonitoredService(stack, 'website', {
    regions: ['eu-west-1'],
    endpoints: get('https://www.example.com/'),
  })
  const checkout = new pharos.MonitoredService(stack, 'checkout', {
    name: 'Check out',
    interval: '1m30s',
    regions: ['eu-west-1', 'us-east-1'],
    paused: false,
    timeouts: { create: '1h' },
    lifecycle: { preventDestroy: true },
    endpoints: [
      post('https://shop.example.com/health')
        .named('health')
        .timeout('10s')
        .followRedirects(3)
        .withDns()
        .header('Accept', 'text/plain')
        .header('accept', 'application/json')
        .secretHeader('Authorization', secretText`Bearer ${token}`, '2')
        .json({ probe: true, literal: EXPRESSION })
        .expect(status.between(200, 299), latency.total.below('800ms'), dns.atMost('50ms'))
        .expect(header('content-type').contains('json'), body.matches('^ok')),
      post('https://shop.example.com/login')
        .secretBody(secretText`{"password":"${secretFromVariable(password)}","token":"${token}"}`)
        .expectAnyAnswer(),
      get('https://shop.example.com/').expect(
        status.is(200),
        ...everyAssertion(pharos).map(([typed]) => typed),
      ),
    ],
  })
  checkout.importFrom('name=Check out')
}

/** The same in what the generator made of the provider's schema. */
export function servicesByBindings({ terraform, pharos }: Library, stack: Stack): void {
  new pharos.PharosProvider(stack, 'pharos')
  const secret = (name: string): string => {
    const variable = new terraform.TerraformVariable(stack, name, { type: 'string', sensitive: true })
    variable.addOverride('ephemeral', true)
    return variable.stringValue
  }
  const secrets = { password: secret('password'), token: secret('probe_token') }

  new pharos.Service(stack, 'website', {
    name: 'website',
    interval: '1m',
    regions: ['eu-west-1'],
    endpoints: [{ url: 'https://www.example.com/', http: { method: 'GET' }, assertions: [SUCCESS] }],
  })
  const checkout = new pharos.Service(stack, 'checkout', {
    name: 'Check out',
    interval: '1m30s',
    regions: ['eu-west-1', 'us-east-1'],
    paused: false,
    timeouts: { create: '1h' },
    lifecycle: { preventDestroy: true },
    endpoints: plainEndpoints(pharos, secrets),
  })
  checkout.importFrom('name=Check out')
}

/** The endpoints of the check-out; `password` and `token` refer to variables. */
function plainEndpoints(
  pharos: Library['pharos'],
  { password, token }: { readonly password: string; readonly token: string },
): ConstructorParameters<Library['pharos']['Service']>[2]['endpoints'] {
  return [
    {
      name: 'health',
      url: 'https://shop.example.com/health',
      http: {
        method: 'POST',
        timeout: '10s',
        maxRedirects: 3,
        withDns: true,
        body: { value: `{"probe":true,"literal":"$${EXPRESSION}"}` },
        headers: {
          accept: { value: 'application/json' },
          Authorization: { valueWo: `Bearer ${token}`, valueWoVersion: '2' },
          'Content-Type': { value: 'application/json' },
        },
      },
      assertions: [
        SUCCESS,
        { latency: { phase: 'total', lt: '800ms' } },
        { dnsResolution: { lte: '50ms' } },
        { header: { name: 'content-type', contains: 'json' } },
        { body: { regex: '^ok' } },
      ],
    },
    {
      url: 'https://shop.example.com/login',
      http: { method: 'POST', body: { valueWo: `{"password":"${password}","token":"${token}"}` } },
      assertions: [{ statusCode: { gte: 100 } }],
    },
    {
      url: 'https://shop.example.com/',
      http: { method: 'GET' },
      assertions: [{ statusCode: { eq: 200 } }, ...everyAssertion(pharos).map(([, plain]) => plain)],
    },
  ]
}
