import { describe, expect, test } from 'vitest'
import { libraries, type Stack, synthesised } from './libraries.ts'
import { servicesByBindings, servicesByLayer } from './sameServices.ts'

describe.each(libraries)('the typed layer on $name', (library) => {
  const { terraform, pharos } = library
  const { get, post, secretFromEnv, secretFromVariable, secretText } = pharos
  const regions = ['eu-west-1']

  const servicesOf = (fill: (stack: Stack) => void): unknown =>
    (synthesised(library, fill).resource as { pharos_service: unknown } | undefined)?.pharos_service

  test('synthesises to the same document as the plain bindings', () => {
    const typed = synthesised(library, (stack) => servicesByLayer(library, stack))
    const plain = synthesised(library, (stack) => servicesByBindings(library, stack))

    expect(typed).toEqual(plain)
    expect(typed).toHaveProperty('resource.pharos_service.checkout.endpoints')
  })

  test('never changes an endpoint: each method returns a new one', () => {
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

  test('refuses two ids of one address, which Terraform would merge into one service, and an id without address', () => {
    const service = (stack: Stack, id: string) =>
      new pharos.MonitoredService(stack, id, { regions, endpoints: get('https://www.example.com/') })
    const app = terraform.Testing.app()
    const stack = new terraform.TerraformStack(app, 'stack')
    service(stack, 'web shop')

    expect(() => service(stack, 'webshop')).toThrow(
      '"stack/web shop" and "stack/webshop" have the same Terraform address, pharos_service.webshop: rename one',
    )
    expect(() => service(stack, 'wébshop')).not.toThrow()
    expect(() => service(stack, 'wbshop')).toThrow('have the same Terraform address, pharos_service.wbshop')
    expect(() => service(stack, '日本')).toThrow('no Terraform address can be made from the id "日本"')
    expect(service(new terraform.TerraformStack(app, 'other'), 'webshop').friendlyUniqueId).toBe('webshop')
  })

  test('keeps a name that overrides the address, and refuses a second use of it, by the bindings too', () => {
    const endpoints = [{ url: 'https://www.example.com/', http: { method: 'GET' } }]
    const service = (stack: Stack, id: string) =>
      new pharos.Service(stack, id, { name: id, interval: '1m', regions, endpoints })
    const layer = { regions, endpoints: get('https://www.example.com/') }
    const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
    const renamed = new pharos.MonitoredService(stack, 'web shop', layer)
    renamed.overrideLogicalId('shop')
    service(stack, 'webshop')

    expect(renamed.friendlyUniqueId).toBe('shop')
    expect(() => service(stack, 'shop')).toThrow(
      '"stack/web shop" and "stack/shop" have the same Terraform address',
    )
    expect(() => new pharos.MonitoredService(stack, 'web  shop', layer)).toThrow('pharos_service.webshop')
    const incident = (id: string) =>
      new pharos.Incident(stack, id, { title: id, message: 'm', severity: 'minor', serviceIds: ['x'] })
    incident('a b')
    expect(() => incident('ab')).toThrow('pharos_incident.ab')
  })

  test('expects a status from 200 to 299 unless an assertion is on the status or any status is accepted', () => {
    const slow = pharos.latency.total.below('1s')
    const endpoint = get('https://www.example.com/')
    const endpoints = [
      endpoint.expect(slow),
      endpoint.expect(slow).expect(pharos.status.is(404)),
      endpoint.expectAnyAnswer().expect(slow),
      endpoint.expect(slow).withoutStatusDefault(),
    ]

    const document = servicesOf((stack) => new pharos.MonitoredService(stack, 'a', { regions, endpoints }))

    expect(document).toMatchObject({
      a: {
        endpoints: [
          { assertions: [{ status_code: { between: [200, 299] } }, { latency: { lt: '1s' } }] },
          { assertions: [{ latency: { lt: '1s' } }, { status_code: { eq: 404 } }] },
          { assertions: [{ status_code: { gte: 100 } }, { latency: { lt: '1s' } }] },
          { assertions: [{ latency: { lt: '1s' } }] },
        ],
      },
    })
    expect(() => endpoint.expect()).toThrow('use expectAnyAnswer()')
  })

  test('refuses what the compiler accepts: durations with a sign or another base, and impossible status codes', () => {
    const { duration, latency, status } = pharos
    const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
    const variable = new terraform.TerraformVariable(stack, 'limit', { type: 'string' })
    const config = { regions, endpoints: get('https://www.example.com/') }

    expect(() => latency.total.below('1m-5s')).toThrow(
      '"1m-5s" is not a duration: write it from the largest unit',
    )
    expect(() => get('https://a.example/').timeout('0x10s')).toThrow('such as 30s, 1m30s or 1.5s')
    expect(() => new pharos.MonitoredService(stack, 'a', { ...config, interval: '1m-5s' })).toThrow(
      'service stack/a: "1m-5s" is not an interval: write it in whole seconds, such as 30s, 1m30s or 2h',
    )
    expect(() => new pharos.MonitoredService(stack, 'b', { ...config, timeouts: { read: '0x1s' } })).toThrow(
      'service stack/b: "0x1s" is not a duration',
    )
    expect(() => status.is(2_000)).toThrow('2000 is not a status code: give a whole number from 100 to 999')
    expect(() => status.between(99, 200)).toThrow('99 is not a status code')
    expect(() => latency.total.below(duration(variable.stringValue))).not.toThrow()
    expect(() => status.is(variable.numberValue)).not.toThrow()
    expect(() => get('https://a.example/').followRedirects(Number('many'))).toThrow('a number, not NaN')
    expect(() => get('https://a.example/').followRedirects(variable.numberValue)).not.toThrow()
  })

  test('keeps a text unchanged, even U+FEFF at its start, and refuses an unknown one', () => {
    const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
    const { stringValue } = new terraform.TerraformVariable(stack, 'team', { type: 'string' })

    expect(pharos.literal('\ufeff$\u007b')).toBe('$\u007b"\ufeff"}$$\u007b')
    expect(() => pharos.literal(`team ${stringValue}`)).toThrow(
      'this one contains a token: leave literal() out',
    )
  })

  test('accepts the API key only as a secret', () => {
    const apiKey = secretFromEnv('TF_VAR_pharos_api_key')

    const document = synthesised(library, (stack) => new pharos.PharosProvider(stack, 'pharos', { apiKey }))

    expect(document).toMatchObject({
      provider: { pharos: [{ api_key: '$\u007bvar.pharos_api_key}' }] },
      variable: { pharos_api_key: { ephemeral: true, sensitive: true } },
    })
    const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
    const clear = { apiKey: 'hunter2' } as object
    expect(() => new pharos.PharosProvider(stack, 'pharos', clear)).toThrow('apiKey is a secret')
  })

  test('accepts a secret only from sensitive variables without a default', () => {
    const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
    const open = new terraform.TerraformVariable(stack, 'open', { type: 'string' })
    const written = new terraform.TerraformVariable(stack, 'written', { sensitive: true, default: 'hunter2' })
    new terraform.TerraformLocal(stack, 'taken', 1)
    const endpoint = get('https://www.example.com/').secretHeader('X-A', secretFromEnv('TF_VAR_taken'))

    expect(() => secretFromVariable(open)).toThrow('variable stack/open holds a secret: set sensitive: true')
    expect(() => secretFromVariable(written)).toThrow('its default would be written into the stack')
    expect(() => secretFromEnv('TF_VAR_')).toThrow('TF_VAR_ is not the name of a variable')
    expect(() => new pharos.MonitoredService(stack, 'a', { regions, endpoints: endpoint })).toThrow(
      'stack/taken already exists',
    )
  })

  test('refuses a secret within a text, within JSON or from another stack', () => {
    const secret = secretFromEnv('TF_VAR_token')
    const app = terraform.Testing.app()
    const [first, second] = ['first', 'second'].map((id) => new terraform.TerraformStack(app, id))
    const variable = new terraform.TerraformVariable(first!, 'token', { sensitive: true })
    const endpoints = post('https://a.example.com/').secretBody(secretFromVariable(variable))

    expect(() => get('https://a.example.com/').header('Authorization', `Bearer ${secret}`)).toThrow(
      'a secret cannot be used as text',
    )
    expect(() => post('https://a.example.com/').json({ token: secret })).toThrow(
      'a secret cannot be used as text',
    )
    // @ts-expect-error: does not compile, and does not run where nothing compiles
    expect(() => secretText`Bearer hunter2`).toThrow('secretText holds no secret')
    expect(() => new pharos.MonitoredService(second!, 'a', { regions, endpoints })).toThrow(
      'variable first/token belongs to another stack than second',
    )
  })

  test('makes one sensitive, ephemeral variable for an environment variable, however often it is used', () => {
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

  test('accepts values of variables as regions, headers and bodies', () => {
    const document = servicesOf((stack) => {
      const { value } = new terraform.TerraformVariable(stack, 'input', {})
      new pharos.MonitoredService(stack, 'shop', {
        regions: value,
        endpoints: post('https://a.example.com/').header('X-Team', value).body(value),
      })
    })

    expect(document).toMatchObject({
      shop: {
        regions: '$\u007bvar.input}',
        endpoints: [
          {
            http: {
              headers: { 'X-Team': { value: '$\u007bvar.input}' } },
              body: { value: '$\u007bvar.input}' },
            },
          },
        ],
      },
    })
  })

  test('refuses a JSON body with a token, which only Terraform could encode, and values that are not JSON', () => {
    const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
    const { numberValue, stringValue } = new terraform.TerraformVariable(stack, 'build', { type: 'number' })

    expect(() => post('https://a.example.com/').json({ builds: [numberValue] })).toThrow('Fn.jsonencode')
    expect(() => post('https://a.example.com/').json({ [stringValue]: true })).toThrow('Fn.jsonencode')
    expect(() => post('https://a.example.com/').json(undefined)).toThrow(
      'the JSON body is undefined, which JSON does not have',
    )
    expect(() => post('https://a.example.com/').json({ a: [new Map()] })).toThrow(
      'the JSON body.a.0 is a Map, which JSON does not have',
    )
    expect(() => post('https://a.example.com/').json({ at: new Date(0), left: undefined })).not.toThrow()
  })

  test('refuses a service without endpoints or regions before anything is written, and names its path', () => {
    const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
    // Settings may come from files, so the compiler does not know them.
    const refusalOf = (id: string, settings: object): unknown => {
      const config = { regions, endpoints: get('https://www.example.com/'), ...settings }
      try {
        return new pharos.MonitoredService(stack, id, config)
      } catch (error) {
        return error instanceof Error ? error.message : error
      }
    }
    const noRegion = "at least one region is needed, in a list such as ['eu-west-1']"

    expect([
      refusalOf('a', { endpoints: [] }),
      refusalOf('b', { endpoints: undefined }),
      refusalOf('c', { regions: [] }),
      refusalOf('d', { regions: undefined }),
      refusalOf('e', { regions: 'eu-west-1' }),
    ]).toEqual([
      'service stack/a: at least one endpoint is needed',
      'service stack/b: at least one endpoint is needed',
      `service stack/c: ${noRegion}`,
      `service stack/d: ${noRegion}`,
      `service stack/e: ${noRegion}`,
    ])
  })
})
