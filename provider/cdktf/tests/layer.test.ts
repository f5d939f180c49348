import { describe, expect, test } from 'vitest'
import { type Library, libraries, synthesised } from './libraries.ts'

/** What Terraform would take for an expression; the linter too, were it in one piece. */
const EXPRESSION = ['$', '{x}'].join('')

type Stack = InstanceType<Library['terraform']['TerraformStack']>

/** Everything that the layer can say, in its words. */
function inWordsOfTheLayer({ terraform, pharos }: Library, stack: Stack): void {
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
        status.isNot(404),
        status.above(199),
        status.atLeast(200),
        status.below(300),
        status.atMost(299),
        status.oneOf(200, 204),
        latency.headers.between('1ms', '1.5s'),
        latency.body.atMost('2s'),
        dns.below('1s'),
        dns.between('0s', '1s'),
        header('X-A').equals('a'),
        header('X-A').startsWith('a'),
        header('X-A').endsWith('a'),
        header('X-A').matches('a'),
        body.equals('a'),
        body.contains('a'),
        body.startsWith('a'),
        body.endsWith('a'),
      ),
    ],
  })
  checkout.importFrom('name=Check out')
}

/** The same in what the generator made of the provider's schema. */
function inWordsOfTheBindings({ terraform, pharos }: Library, stack: Stack): void {
  new pharos.PharosProvider(stack, 'pharos')
  const secret = (name: string): string => {
    const variable = new terraform.TerraformVariable(stack, name, { type: 'string', sensitive: true })
    variable.addOverride('ephemeral', true)
    return variable.stringValue
  }
  const password = secret('password')
  const token = secret('probe_token')
  const success = { statusCode: { between: [200, 299] } }

  new pharos.Service(stack, 'website', {
    name: 'website',
    interval: '1m',
    regions: ['eu-west-1'],
    endpoints: [{ url: 'https://www.example.com/', http: { method: 'GET' }, assertions: [success] }],
  })
  const checkout = new pharos.Service(stack, 'checkout', {
    name: 'Check out',
    interval: '1m30s',
    regions: ['eu-west-1', 'us-east-1'],
    paused: false,
    timeouts: { create: '1h' },
    lifecycle: { preventDestroy: true },
    endpoints: [
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
          success,
          { latency: { phase: 'total', lt: '800ms' } },
          { dnsResolution: { lte: '50ms' } },
          { header: { name: 'content-type', contains: 'json' } },
          { body: { regex: '^ok' } },
        ],
      },
      {
        url: 'https://shop.example.com/login',
        http: { method: 'POST', body: { valueWo: `{"password":"${password}","token":"${token}"}` } },
      },
      {
        url: 'https://shop.example.com/',
        http: { method: 'GET' },
        assertions: [
          { statusCode: { eq: 200 } },
          { statusCode: { ne: 404 } },
          { statusCode: { gt: 199 } },
          { statusCode: { gte: 200 } },
          { statusCode: { lt: 300 } },
          { statusCode: { lte: 299 } },
          { statusCode: { oneOf: [200, 204] } },
          { latency: { phase: 'headers', between: ['1ms', '1.5s'] } },
          { latency: { phase: 'body', lte: '2s' } },
          { dnsResolution: { lt: '1s' } },
          { dnsResolution: { between: ['0s', '1s'] } },
          { header: { name: 'X-A', eq: 'a' } },
          { header: { name: 'X-A', startsWith: 'a' } },
          { header: { name: 'X-A', endsWith: 'a' } },
          { header: { name: 'X-A', regex: 'a' } },
          { body: { eq: 'a' } },
          { body: { contains: 'a' } },
          { body: { startsWith: 'a' } },
          { body: { endsWith: 'a' } },
        ],
      },
    ],
  })
  checkout.importFrom('name=Check out')
}

describe.each(libraries)('the typed layer on $name', (library) => {
  const { terraform, pharos } = library
  const { get, post, secretFromEnv, secretFromVariable } = pharos
  const regions = ['eu-west-1']

  const servicesOf = (fill: (stack: Stack) => void): unknown =>
    (synthesised(library, fill).resource as { pharos_service: unknown } | undefined)?.pharos_service

  test('synthesises to the same document as the plain bindings', () => {
    const typed = synthesised(library, (stack) => inWordsOfTheLayer(library, stack))
    const plain = synthesised(library, (stack) => inWordsOfTheBindings(library, stack))

    expect(typed).toEqual(plain)
    expect(typed).toHaveProperty('resource.pharos_service.checkout.endpoints')
  })

  test('never changes an endpoint: each method gives another one', () => {
    const plain = get('https://www.example.com/')
    const named = plain.named('page').header('Accept', 'text/html').timeout('5s')
    const config = { name: 'a', regions }

    const document = servicesOf((stack) => {
      new pharos.MonitoredService(stack, 'before', { ...config, endpoints: get('https://www.example.com/') })
      new pharos.MonitoredService(stack, 'after', { ...config, endpoints: plain })
      new pharos.MonitoredService(stack, 'named', { ...config, endpoints: named })
    }) as Readonly<Record<string, unknown>>

    expect(document.after).toEqual(document.before)
    expect(document.named).not.toEqual(document.before)
  })

  test('takes a secret from sensitive variables without a default only', () => {
    const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
    const open = new terraform.TerraformVariable(stack, 'open', { type: 'string' })
    const written = new terraform.TerraformVariable(stack, 'written', { sensitive: true, default: 'hunter2' })
    new terraform.TerraformLocal(stack, 'taken', 1)
    const endpoint = get('https://www.example.com/').secretHeader('X-A', secretFromEnv('TF_VAR_taken'))

    expect(() => secretFromVariable(open)).toThrow('variable stack/open holds a secret: set sensitive: true')
    expect(() => secretFromVariable(written)).toThrow('its default would be written into the stack')
    expect(() => secretFromEnv('TF_VAR_')).toThrow('TF_VAR_ names no Terraform variable')
    expect(() => new pharos.MonitoredService(stack, 'a', { regions, endpoints: endpoint })).toThrow(
      'stack/taken is there already',
    )
  })

  test('lets no secret get lost in a text, in JSON or in another stack', () => {
    const secret = secretFromEnv('TF_VAR_token')
    const app = terraform.Testing.app()
    const [first, second] = ['first', 'second'].map((id) => new terraform.TerraformStack(app, id))
    const variable = new terraform.TerraformVariable(first!, 'token', { sensitive: true })
    const endpoints = post('https://a.example.com/').secretBody(secretFromVariable(variable))

    expect(() => get('https://a.example.com/').header('Authorization', `Bearer ${secret}`)).toThrow(
      'a secret is no text',
    )
    expect(() => post('https://a.example.com/').json({ token: secret })).toThrow('a secret is no text')
    expect(() => new pharos.MonitoredService(second!, 'a', { regions, endpoints })).toThrow(
      'variable first/token is of another stack than second',
    )
  })

  test('makes one sensitive, ephemeral variable of an environment variable, however often it is used', () => {
    const token = secretFromEnv('TF_VAR_token')
    const endpoints = [
      post('https://a.example.com/').secretBody(token),
      get('https://b.example.com/').secretHeader('X-A', secretFromEnv('TF_VAR_token')),
    ]

    const document = synthesised(
      library,
      (stack) => new pharos.MonitoredService(stack, 'a', { regions, endpoints }),
    )

    expect(document.variable).toEqual({ token: { type: 'string', sensitive: true, ephemeral: true } })
  })

  test('refuses a JSON body with a token in it, which only Terraform could encode', () => {
    const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
    const { numberValue } = new terraform.TerraformVariable(stack, 'build', { type: 'number' })

    expect(() => post('https://a.example.com/').json({ builds: [numberValue] })).toThrow('Fn.jsonencode')
  })

  test('refuses a service without endpoints or regions before anything is written', () => {
    const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
    const endpoints = get('https://www.example.com/')

    expect(() => new pharos.MonitoredService(stack, 'a', { regions, endpoints: [] })).toThrow(
      'service a needs at least one endpoint',
    )
    expect(() => new pharos.MonitoredService(stack, 'b', { regions: [], endpoints })).toThrow(
      'service b needs at least one region',
    )
  })
})
