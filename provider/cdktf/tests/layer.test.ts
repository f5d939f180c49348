import { describe, expect, test } from 'vitest'
import { libraries, type Stack, synthesised } from './libraries.ts'
import { inWordsOfTheBindings, inWordsOfTheLayer } from './sameServices.ts'

describe.each(libraries)('the typed layer on $name', (library) => {
  const { terraform, pharos } = library
  const { get, post, secretFromEnv, secretFromVariable, secretText } = pharos
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
    // @ts-expect-error: does not compile, and does not run where nothing compiles
    expect(() => secretText`Bearer hunter2`).toThrow('secretText holds no secret')
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

  test('refuses a JSON body with a token in it, which only Terraform could encode, and what is no JSON', () => {
    const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
    const { numberValue, stringValue } = new terraform.TerraformVariable(stack, 'build', { type: 'number' })

    expect(() => post('https://a.example.com/').json({ builds: [numberValue] })).toThrow('Fn.jsonencode')
    expect(() => post('https://a.example.com/').json({ [stringValue]: true })).toThrow('Fn.jsonencode')
    expect(() => post('https://a.example.com/').json(undefined)).toThrow('a value that JSON does not have')
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
