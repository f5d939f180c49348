import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startServer } from '../../../server/testing/startServer.ts'
import { openScenario, type Scenario, serviceBlock } from '../scenario.ts'
import { cannotRunTerraform } from '../terraformWorkspace.ts'

async function openServer(): Promise<Scenario> {
  return openScenario(await startServer({ rateLimit: 'none' }))
}

const endpoint = (rest: string, http = ''): string =>
  `endpoints = [{ url = "https://example.com/", http = { method = "GET" ${http} } ${rest} }]`
const asserted = (assertion: string): string => endpoint(`, assertions = [${assertion}]`)

/** Every mistake that validation finds: arguments of a service, and their diagnostics. */
const WRONG: readonly (readonly [string, string])[] = [
  ['endpoints = []', 'endpoints must'],
  ['regions = []', 'regions must name at least one region'],
  [asserted('{ status_code = { eq = 200 }, body = { eq = "a" } }'), 'must have exactly one of status_code'],
  [asserted('{ status_code = { eq = 200, ne = 500 } }'), 'must have exactly one of eq'],
  [asserted('{ status_code = {} }'), 'must have exactly one of eq'],
  [asserted('{ status_code = { between = [200] } }'), 'status_code.between must'],
  [asserted('{ status_code = { between = [1, 2, 3] } }'), 'status_code.between must'],
  [asserted('{ status_code = { between = [299, 200] } }'), 'must not have its bounds reversed'],
  [asserted('{ status_code = { eq = 4000000000 } }'), 'status_code.eq must'],
  [
    asserted('{ body = { regex = "(" } }'),
    'endpoints[0].assertions[0].body.regex does not compile: missing closing ) at character 1',
  ],
  [asserted('{ body = { regex = "ü[(](b|(c)" } }'), 'missing closing ) at character 5'],
  [
    asserted('{ body = { regex = "a(?=b)" } }, { body = { regex = "^ok$" } }'),
    'invalid or unsupported Perl syntax at character 2',
  ],
  [asserted('{ body = { regex = "ab[c" } }'), 'missing closing ] at character 3'],
  [endpoint('', ', headers = { "" = { value = "a" } }'), 'has a name that is not a header name'],
  [endpoint('', ', headers = { A = { value = "a\\nb" } }'), 'headers["A"].value must'],
  [
    endpoint('', ', headers = { A = { value = "a" }, a = { value = "b" } }'),
    'has a name twice, ignoring case',
  ],
  [endpoint('', ', headers = { A = null }'), 'An element of endpoints[0].http.headers is null'],
  [asserted('null'), 'An element of endpoints[0].assertions is null'],
  [asserted('{ status_code = { eq = 9007199254740993 } }'), 'status_code.eq must be a 32-bit whole number'],
  [endpoint('', ', max_redirects = -1'), 'max_redirects must'],
  [endpoint('', ', timeout = "soon"'), 'timeout must be a duration'],
  ['endpoints = [{ url = "https://example.com/", http = { method = "PATCH" } }]', 'method must be one of'],
  ['name = "\\u200b"', 'name must have a visible character'],
  ['name = "shop\\u001b[31m"', 'name must not contain the control character U+001B (character 5)'],
  ['name = "\\u202eshop"', 'name must not contain the direction control U+202E (character 1)'],
  ['name = join("", [for _ in range(256) : " "])', 'name must have at most 255 characters'],
  [
    'endpoints = [{ name = "a\\nb", url = "https://example.com/", http = { method = "GET" } }]',
    'endpoints[0].name must not contain the line break U+000A (character 2)',
  ],
  ['interval = "1.5s"', 'interval must be a whole number of seconds'],
  ['interval = "soon"', 'interval must be a whole number of seconds, such as 30s, 5m or 1m30s'],
  ['timeouts = { create = "0s" }', 'timeouts.create must be longer than 0s'],
  [
    endpoint('', ', headers = { A = { value = "a", value_wo_version = "1" } }'),
    'headers["A"].value_wo_version belongs to value_wo',
  ],
  ...['id', 'org_id', 'created_at', 'created_by_email', 'paused_at'].map(
    (name) => [`${name} = "abc"`, `Cannot set a value for ${name}`] as const,
  ),
  ['secrets_revision = 7', 'Cannot set a value for secrets_revision'],
  ['sealed_key_ids = {}', 'Cannot set a value for sealed_key_ids'],
  ['regions = null', 'Must set a configuration value for regions'],
  ['endpoints = null', 'Must set a configuration value for endpoints'],
  ['endpoints = [{ url = "https://example.com/", http = null }]', 'value for endpoints[0].http'],
  [asserted('{ header = { name = null, eq = "a" } }'), 'value for endpoints[0].assertions[0].header.name'],
]

describe.skipIf(cannotRunTerraform)('terraform', () => {
  test('Scenario 41: an invalid value is refused by validate at its attribute, before any request', async () => {
    const { workspace, proxy } = await openServer()
    workspace.configure(WRONG.map(([rest], index) => serviceBlock(`wrong_${index}`, rest)).join('\n'))

    const { exitCode, output } = await workspace.run(['validate'])

    const text = output.replaceAll(/\s+/g, ' ')
    const errors = text.split('Error: ').slice(1)
    const unsaid = WRONG.filter(
      ([, words], index) =>
        !errors.some((error) => error.includes(`wrong_${index},`) && error.includes(words)),
    )
    expect(exitCode).toBe(1)
    expect(unsaid).toEqual([])
    expect(errors.length).toBe(WRONG.length)
    expect(text).not.toContain('Warning: ')
    expect(proxy.requests()).toEqual([])
  })

  test('a configured value for a computed attribute of a data source is refused', async () => {
    const { workspace, proxy } = await openServer()
    workspace.configure(`data "pharos_service" "a" {
        name = "a"
        created_at = "today"
      }
      data "pharos_incident" "a" {
        id      = "00000000-0000-4000-8000-000000000000"
        updates = []
      }`)

    const { exitCode, output } = await workspace.run(['validate'])

    expect(exitCode).toBe(1)
    expect(output.match(/Error: .*/g)).toEqual([
      'Error: Invalid Configuration for Read-Only Attribute',
      'Error: Invalid Configuration for Read-Only Attribute',
    ])
    expect(proxy.requests()).toEqual([])
  })

  test('a required argument that turns out to be null in the apply is refused before any request', async () => {
    const { workspace, writes } = await openServer()
    workspace.configure(`resource "terraform_data" "one" {}
      ${serviceBlock('a', 'regions = terraform_data.one.id == "" ? ["eu-west-1"] : null')}`)

    const planned = await workspace.run(['plan', '-out=saved.tfplan'])
    const applied = await workspace.run(['apply', 'saved.tfplan'])

    expect(planned.exitCode).toBe(0)
    expect(applied.exitCode).toBe(1)
    expect(applied.output).toContain('Missing Configuration for Required Attribute')
    expect(applied.output).not.toContain('bug in the provider')
    expect(writes()).toEqual([])
  })

  test('Terraform itself drops a misspelt attribute of a nested object, and refuses one of the resource', async () => {
    const { workspace } = await openServer()
    workspace.configure(serviceBlock('a', endpoint(', asertions = [{ status_code = { eq = 200 } }]')))
    const nested = await workspace.run(['validate'])
    workspace.configure(serviceBlock('a', 'intervall = "30s"'))
    const own = await workspace.run(['validate'])

    expect([nested.exitCode, own.exitCode]).toEqual([0, 1])
    expect(own.output).toContain('An argument named "intervall" is not expected here')
  })

  test('Scenario 41: an impossible status code, and a latency limit that no response can meet, are warnings, since a service may have them', async () => {
    const { apply } = await openServer()

    const output = await apply(
      serviceBlock('odd', asserted('{ status_code = { eq = 99 } }')) +
        serviceBlock('never', asserted('{ latency = { phase = "total", lt = "0s" } }')),
    )

    expect(output.replaceAll(/\s+/g, ' ')).toContain(
      'endpoints[0].assertions[0].status_code contains a status that no server sends',
    )
    expect(output).toContain('Warning: This assertion never holds')
    expect(output).toContain('2 added')
  })

  test('another case of a header name in an assertion is no difference, even after a manual change', async () => {
    const { apply, byHand, plan, writes } = await openServer()
    const header = (name: string, rest = ''): string =>
      serviceBlock('a', asserted(`{ header = { name = "${name}", eq = "a" } }${rest}`))
    await apply(header('content-type'))
    const [service] = (await byHand.listServices()).services
    writes()

    const same = await apply(header('Content-Type'))
    await byHand.replaceService(service?.id ?? '', {
      name: 'a',
      interval_secs: 60,
      regions: ['eu-west-1'],
      endpoints: [
        {
          url: 'https://example.com/',
          call: { Http: { method: 'GET', timeout: null } },
          assertions: [{ Header: { name: 'CONTENT-TYPE', matcher: { Equals: 'a' } } }],
        },
      ],
    })
    const byOthers = await plan()
    await apply(header('Content-Type', ', { body = { eq = "b" } }'))

    expect(same).toContain('0 added, 0 changed, 0 destroyed')
    expect(byOthers.exitCode).toBe(0)
    expect(writes()).toEqual(['PATCH /v1/services/:id'])
    expect(await plan()).toMatchObject({ exitCode: 0 })
  })

  test('an empty endpoint name in place of none is reported as a change, which Terraform does not show', async () => {
    const { apply, plan } = await openServer()
    const empty = serviceBlock('a', endpoint(', name = ""'))
    await apply(serviceBlock('a'))

    const output = await apply(empty)
    const again = await plan()
    const back = await apply(serviceBlock('a'))

    expect(output.replaceAll(/\s+/g, ' ')).toContain('endpoints[0].name changes from none to an empty string')
    expect(output).toContain('1 changed')
    expect(again).toMatchObject({ exitCode: 0 })
    expect(again.output).not.toContain('Warning')
    expect(back.replaceAll(/\s+/g, ' ')).toContain('changes from an empty string to none')
  })

  test('Scenario 43: an invalid value from a variable passes validate, and is an error in the plan', async () => {
    const { workspace, proxy } = await openServer()
    const configuration = `variable "reversed" { type = list(number) }
      variable "interval" { type = string }
      variable "header" { type = string }
      variable "pattern" { type = string }
      variable "method" { type = string }
      ${serviceBlock('bounds', asserted('{ status_code = { between = var.reversed } }'))}
      ${serviceBlock('interval', 'interval = var.interval')}
      ${serviceBlock('header', endpoint('', ', headers = { A = { value = var.header } }'))}
      ${serviceBlock('pattern', asserted('{ body = { regex = var.pattern } }'))}
      ${serviceBlock('method', 'endpoints = [{ url = "https://example.com/", http = { method = var.method } }]')}`
    workspace.configure(configuration)
    const variables = {
      TF_VAR_reversed: '[299, 200]',
      TF_VAR_interval: 'soon',
      TF_VAR_header: 'a\nb',
      TF_VAR_pattern: '(',
      TF_VAR_method: 'PATCH',
    }

    const validated = await workspace.run(['validate'], variables)
    const planned = await workspace.run(['plan', '-input=false'], variables)

    expect(validated.exitCode).toBe(0)
    expect(planned.exitCode).toBe(1)
    for (const label of ['bounds', 'interval', 'header', 'pattern', 'method']) {
      expect(planned.output).toContain(`with pharos_service.${label},`)
    }
    expect(proxy.requests().filter((line) => !line.startsWith('GET'))).toEqual([])
  })

  test('Scenario 36: generated configuration of an imported service is applied without a change, and plans empty', async () => {
    const { apply, byHand, plan, workspace } = await openServer()
    await apply(
      serviceBlock(
        'a',
        `interval = "90s"
         ${endpoint(', assertions = [{ status_code = { between = [200, 299] } }, { latency = { phase = "total", lt = "1s" } }]', ', headers = { Accept = { value = "text/html" } }')}`,
      ),
    )
    const [service] = (await byHand.listServices()).services
    workspace.forget()
    workspace.configure(`import {\n  to = pharos_service.generated\n  id = "${service?.id}"\n}\n`)

    await workspace.succeed(['plan', '-generate-config-out=generated.tf'])
    const applied = await workspace.succeed(['apply', '-auto-approve'])
    const { exitCode } = await plan()

    expect(applied).toContain('1 imported, 0 added, 0 changed, 0 destroyed')
    expect(exitCode).toBe(0)
  })

  test('Scenario 64: a state with attributes removed from the schema plans empty, and one of a newer schema is refused', async () => {
    const { apply, plan, workspace } = await openServer()
    await apply(serviceBlock('a'))
    const file = join(workspace.folder, 'terraform.tfstate')
    const state = JSON.parse(readFileSync(file, 'utf8'))
    const [instance] = state.resources[0].instances
    instance.attributes.gone = 'x'
    writeFileSync(file, JSON.stringify(state))
    const surplus = await plan()
    instance.schema_version = 7
    writeFileSync(file, JSON.stringify(state))
    const newer = await plan()

    expect(surplus.exitCode).toBe(0)
    expect(newer.exitCode).toBe(1)
    expect(newer.output).toContain('newer provider version')
  })
})
