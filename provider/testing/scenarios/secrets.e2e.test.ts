import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startServer } from '../../../server/testing/startServer.ts'
import { openScenario, type Scenario, serviceBlock } from '../scenario.ts'
import { cannotRunTerraform } from '../terraformWorkspace.ts'

const VARIABLE = `variable "token" {
  type      = string
  ephemeral = true
}
`

/** A service with a secret header, and further arguments of the header and of the service. */
const sealed = (header = '', rest = ''): string =>
  VARIABLE +
  serviceBlock(
    'sealed',
    `endpoints = [{
       url  = "https://example.com/"
       http = { method = "GET", headers = { Authorization = { value_wo = "Bearer \${var.token}" ${header} } } }
     }]
     ${rest}`,
  )

/** Bodies of all PATCH requests so far. */
const patches = ({ proxy }: Scenario): readonly string[] =>
  proxy.passed.filter(({ method }) => method === 'PATCH').map(({ body }) => body)

const token = (value: string): NodeJS.ProcessEnv => ({ TF_VAR_token: value })

/** Writes the service again unchanged, but with a different secret. */
async function overwriteByHand({ byHand }: Scenario): Promise<void> {
  const [service] = (await byHand.listServices()).services
  const headers = { Authorization: { value: 'Bearer of another client', sensitive: true } }
  await byHand.replaceService(service?.id ?? '', {
    name: 'sealed',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [
      {
        url: 'https://example.com/',
        call: { Http: { method: 'GET', timeout: null, headers } },
        assertions: [],
      },
    ],
  })
}

async function openServer(): Promise<Scenario> {
  return openScenario(await startServer({ rateLimit: 'none' }))
}

describe.skipIf(cannotRunTerraform)('terraform', () => {
  test('Scenario 24: another value_wo_version sends the same secret again', async () => {
    const scenario = await openServer()
    await scenario.apply(sealed(', value_wo_version = 1'), token('same'))
    await scenario.apply(sealed(', value_wo_version = 2'), token('same'))

    expect(patches(scenario)).toEqual([expect.stringContaining('Bearer same')])
    expect(await scenario.plan(token('same'))).toMatchObject({ exitCode: 0 })
  })

  test('Scenario 25: a change of something else still sends every secret', async () => {
    const scenario = await openServer()
    await scenario.apply(sealed(), token('one'))
    await scenario.apply(sealed('', 'interval = "90s"'), token('one'))

    expect(patches(scenario)).toEqual([expect.stringContaining('Bearer one')])
  })

  test('Scenario 26: a secret that is unknown in the plan is sent once if it differs, and not at all if it does not', async () => {
    const scenario = await openServer()
    const derived = (version: string, value: string): string =>
      `resource "terraform_data" "source" {
         input            = "${value}"
         triggers_replace = "${version}"
       }
       ${sealed().replace('$' + '{var.token}', '$' + '{terraform_data.source.output}')}`
    await scenario.apply(derived('1', 'one'), token('unused'))
    await scenario.apply(derived('2', 'one'), token('unused'))
    const afterSame = patches(scenario).length
    await scenario.apply(derived('3', 'two'), token('unused'))

    expect(afterSame).toBe(0)
    expect(patches(scenario)).toEqual([expect.stringContaining('Bearer two')])
  })

  test('Scenario 27: a saved plan needs the ephemeral secret again, and applies with it, even if it has changed since', async () => {
    const scenario = await openServer()
    scenario.workspace.configure(sealed())
    await scenario.workspace.succeed(['plan', '-out=saved.tfplan'], token('one'))

    const without = await scenario.workspace.run(['apply', '-input=false', 'saved.tfplan'])
    const created = (await scenario.byHand.listServices()).services.length
    await scenario.workspace.succeed(['apply', '-input=false', 'saved.tfplan'], token('one'))
    scenario.workspace.configure(sealed('', 'interval = "90s"'))
    await scenario.workspace.succeed(['plan', '-out=saved.tfplan'], token('one'))
    await scenario.workspace.succeed(['apply', '-input=false', 'saved.tfplan'], token('two'))

    expect(patches(scenario)).toEqual([expect.stringContaining('Bearer two')])
    expect(await scenario.plan(token('two'))).toMatchObject({ exitCode: 0 })
    expect(without.exitCode).toBe(1)
    expect(without.output).toContain('token')
    expect(created).toBe(0)
    expect((await scenario.byHand.listServices()).services.length).toBe(1)
  })

  test('Scenarios 28 and 29: a sealed header that was made plain or removed manually is a difference, and one removed from the configuration causes a warning', async () => {
    const scenario = await openServer()
    await scenario.apply(sealed(), token('one'))
    const [service] = (await scenario.byHand.listServices()).services
    const byHand = (headers: Record<string, { value: string }>) =>
      scenario.byHand.replaceService(service?.id ?? '', {
        name: 'sealed',
        interval_secs: 60,
        regions: ['eu-west-1'],
        endpoints: [
          {
            url: 'https://example.com/',
            call: { Http: { method: 'GET', timeout: null, headers } },
            assertions: [],
          },
        ],
      })

    await byHand({ Authorization: { value: 'plain' } })
    const plain = await scenario.plan(token('one'))
    await byHand({})
    const gone = await scenario.plan(token('one'))
    await scenario.workspace.succeed(['apply', '-auto-approve'], token('one'))
    const removed = await scenario.apply(serviceBlock('sealed'))

    expect([plain.exitCode, gone.exitCode]).toEqual([2, 2])
    expect(plain.output).toMatch(/- value += "plain" -> null/)
    expect(gone.output).toMatch(/\+ "Authorization"/)
    expect(removed).toContain('A sealed value will be lost')
    expect(patches(scenario).at(-1)).not.toContain('Authorization')
  })

  test('a secret that was overwritten manually is a difference in the plan, and is sent again once', async () => {
    const scenario = await openServer()
    await scenario.apply(sealed('', 'interval = "60s"'), token('one'))
    await overwriteByHand(scenario)

    const planned = await scenario.plan(token('one'))
    const unrefreshed = await scenario.workspace.run(
      ['plan', '-refresh=false', '-detailed-exitcode'],
      token('one'),
    )
    await scenario.workspace.succeed(['apply', '-refresh-only', '-auto-approve'], token('one'))
    const afterRefresh = await scenario.plan(token('one'))
    const sentBefore = patches(scenario).length
    await scenario.workspace.succeed(['apply', '-auto-approve'], token('one'))

    expect([planned.exitCode, unrefreshed.exitCode, afterRefresh.exitCode]).toEqual([2, 0, 2])
    expect(planned.output.replaceAll(/\s+/g, ' ')).toContain(
      'The sealed value at 0.headers.Authorization of the endpoints was written by another client',
    )
    expect(planned.output).toMatch(/~ sealed_key_ids += \{[^}]*\} -> \(known after apply\)/)
    expect(planned.output).toMatch(/~ secrets_revision += 1 -> \(known after apply\)/)
    expect(sentBefore).toBe(0)
    expect(patches(scenario)).toEqual([expect.stringContaining('Bearer one')])
    expect(await scenario.plan(token('one'))).toMatchObject({ exitCode: 0 })
  })

  test('own changes, a manual pause and a moved endpoint do not count as an overwritten secret', async () => {
    const scenario = await openServer()
    const plain = '{ url = "https://example.com/b", http = { method = "GET" } },'
    const two = sealed().replace('endpoints = [{', `endpoints = [${plain} {`)
    await scenario.apply(two, token('one'))
    await scenario.apply(two.replace('60s', '90s'), token('one'))
    const [service] = (await scenario.byHand.listServices()).services
    await scenario.byHand.pauseService(service?.id ?? '')
    await scenario.byHand.resumeService(service?.id ?? '')
    const paused = await scenario.plan(token('one'))
    await scenario.apply(sealed('', 'interval = "90s"'), token('one'))
    const moved = await scenario.plan(token('one'))

    for (const { exitCode, output } of [paused, moved]) {
      expect(exitCode).toBe(0)
      expect(output).not.toContain('overwritten')
    }
  })

  test('after an import the current secret is accepted, and a later overwrite is detected', async () => {
    const scenario = await openServer()
    const configuration = sealed('', 'interval = "60s"')
    await scenario.apply(configuration, token('one'))
    const [service] = (await scenario.byHand.listServices()).services
    scenario.workspace.forget()
    await scenario.apply(
      `${configuration}\nimport {\n to = pharos_service.sealed\n id = "${service?.id}"\n}\n`,
      token('one'),
    )

    const imported = await scenario.plan(token('one'))
    await overwriteByHand(scenario)
    const overwritten = await scenario.plan(token('one'))

    expect([imported.exitCode, overwritten.exitCode]).toEqual([0, 2])
    expect(overwritten.output).toContain('A secret was overwritten')
  })

  test('an optional ephemeral secret needs another variable that says whether it is set', async () => {
    const { workspace, byHand } = await openServer()
    const headers = (condition: string, fallback: string): string =>
      `variable "has_token" {
         type    = bool
         default = false
       }
       variable "token" {
         type      = string
         ephemeral = true
         default   = ${fallback}
       }
       ${serviceBlock(
         'optional',
         `endpoints = [{
            url  = "https://example.com/"
            http = {
              method  = "GET"
              headers = { for name in ${condition} ? ["Authorization"] : [] : name => { value_wo = "Bearer \${var.token}" } }
            }
          }]`,
       )}`
    const plan = async (condition: string, fallback: string): Promise<string> => {
      workspace.configure(headers(condition, fallback))
      return (await workspace.run(['plan'])).output
    }

    const decided = await plan('var.token != ""', '""')
    const missing = await plan('true', 'null')
    workspace.configure(headers('var.has_token', '""'))
    await workspace.succeed(['apply', '-auto-approve'])
    const without = (await byHand.listServices()).services[0]?.endpoints[0]?.call.Http.headers
    await workspace.succeed(['apply', '-auto-approve'], { TF_VAR_has_token: 'true', TF_VAR_token: 'one' })
    const given = (await byHand.listServices()).services[0]?.endpoints[0]?.call.Http.headers

    expect(decided).toContain('Error: Invalid use of ephemeral value')
    expect(missing).toContain('Cannot include a null value in a string')
    expect(without ?? {}).toEqual({})
    expect(given).toMatchObject({ Authorization: { Sealed: {} } })
  })

  test('Scenario 30: a plain Authorization header causes a warning, and value together with value_wo is refused', async () => {
    const { workspace } = await openServer()
    const header = (label: string, arguments_: string): string =>
      serviceBlock(
        label,
        `endpoints = [{ url = "https://example.com/", http = { method = "GET", headers = { Authorization = { ${arguments_} } } } }]`,
      )
    workspace.configure(header('plain', 'value = "x"') + header('both', 'value = "x", value_wo = "y"'))

    const { exitCode, output } = await workspace.run(['validate'])

    const text = output.replaceAll(/\s+/g, ' ')
    const [warnings = '', ...errors] = text.split('Error: ')
    expect(exitCode).toBe(1)
    expect(warnings).toContain('This header looks like a secret')
    expect(warnings).toContain('with pharos_service.plain,')
    expect(errors).toEqual([expect.stringContaining('must have only one of value and value_wo')])
  })

  test('Scenarios 22, 23 and 31: a rotation is detected whichever key plans, reads or applies, and the new secret is sent once', async () => {
    const server = await startServer({ rateLimit: 'none' })
    const scenario = await openScenario(server)
    const readOnly = { PHAROS_API_KEY: await server.readOnlyKey() }
    const rotatedKey = { PHAROS_API_KEY: await server.createKey() }
    await scenario.apply(sealed(), token('one'))

    const same = await scenario.plan({ ...readOnly, ...token('one') })
    const changed = await scenario.plan({ ...readOnly, ...token('two') })
    await scenario.workspace.succeed(['apply', '-auto-approve'], { ...rotatedKey, ...token('two') })
    const after = await scenario.plan({ ...readOnly, ...token('two') })

    expect([same.exitCode, changed.exitCode, after.exitCode]).toEqual([0, 2, 0])
    expect(changed.output).toContain('A secret changed')
    expect(patches(scenario)).toEqual([expect.stringContaining('Bearer two')])
    expect(scenario.proxy.passed.filter(({ body }) => body.includes('Bearer two')).length).toBe(1)
  })

  test('Scenario 21: a secret is in no log, crash output, plan as JSON or request that only reads', async () => {
    const server = await startServer({ rateLimit: 'none' })
    const scenario = await openScenario(server, 'installed')
    const { workspace, proxy } = scenario
    const secret = `canary-${randomBytes(12).toString('hex')}`
    const body = 'body = { value_wo = "body $' + '{var.token}" }'
    workspace.configure(sealed().replace('method = "GET"', `method = "POST", ${body}`))
    await workspace.succeed(['init'])
    const log = {
      ...token(secret),
      TF_LOG: 'TRACE',
      TF_LOG_PATH: join(workspace.folder, 'trace.log'),
    }
    const applied = await workspace.succeed(['apply', '-auto-approve'], log)
    const sent = proxy.passed.length
    // The server's words are shown, so a refusal that quotes nothing of ours is all that may be in them.
    proxy.refuseNext('GET', /\/services/, 401, 'no')
    const refused = await workspace.run(['plan'], log)
    const planned = await workspace.succeed(['plan', '-out=saved.tfplan'], log)
    const shown = await workspace.succeed(['show', '-json', 'saved.tfplan'])
    proxy.loseResponse('PATCH', /\/services\//, 'closed')
    const failed = await workspace.run(['apply', '-auto-approve'], {
      ...log,
      TF_VAR_token: `${secret}-rotated`,
    })

    expect(proxy.passed.slice(sent).filter(({ method, body }) => method === 'GET' && body !== '')).toEqual([])
    expect(workspace.filesWith('value_wo')).toContain('terraform.tfstate')
    expect(workspace.filesWith(secret)).toEqual([])
    expect(applied + refused.output + planned + shown + failed.output).not.toContain(secret)
    const logged = readFileSync(log.TF_LOG_PATH, 'utf8')
    for (const said of ['plugin started', 'POST /v1/services: ', 'status=201', 'the request is sent again: '])
      expect(logged).toContain(said)
    expect(server.logged()).not.toContain(secret)
  })
})
