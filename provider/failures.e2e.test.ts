import { once } from 'node:events'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../api/client/client.ts'
import { startServer, type TestServer } from '../server/testing/startServer.ts'
import type { RecordingProxy } from './testing/recordingProxy.ts'
import { openScenario } from './testing/scenario.ts'
import {
  cannotRunTerraform,
  type TerraformWorkspace,
  terraformWorkspace,
  type WorkspaceOptions,
} from './testing/terraformWorkspace.ts'

/** Services of an apply that is interrupted or killed: three times PARALLEL; more of them for a long run. */
const INTERRUPTED = Number(process.env.PHAROS_TEST_INTERRUPTED ?? 12)
const KILLED = Number(process.env.PHAROS_TEST_KILLED ?? 12)
/** Changes that Terraform makes at once. */
const PARALLEL = 4

const APPLY = ['apply', '-auto-approve']
const PLAN = ['plan', '-detailed-exitcode']

function service(label: string, rest = ''): string {
  return `resource "pharos_service" "${label}" {
    name      = "${label}"
    interval  = "60s"
    regions   = ["eu-west-1"]
    endpoints = [{ url = "https://example.com/", http = { method = "GET" } }]
    ${rest}
  }
`
}

const many = (count: number): string => `resource "pharos_service" "many" {
    count     = ${count}
    name      = "many \${count.index}"
    interval  = "60s"
    regions   = ["eu-west-1"]
    endpoints = [{ url = "https://example.com/", http = { method = "GET" } }]
  }
`

describe.skipIf(cannotRunTerraform)('terraform', () => {
  let server: TestServer
  let proxy: RecordingProxy
  let workspace: TerraformWorkspace
  let byHand: Client

  beforeEach(async () => {
    server = await startServer({ rateLimit: 'none' })
    ;({ proxy, workspace, byHand } = await openScenario(server))
  })

  async function apply(configuration: string): Promise<string> {
    workspace.configure(configuration)
    return workspace.succeed(APPLY)
  }

  async function useInstalled(configuration: string): Promise<void> {
    const options: WorkspaceOptions = { url: proxy.url, apiKey: server.apiKey, provider: 'installed' }
    workspace = await terraformWorkspace(options)
    onTestFinished(workspace.remove)
    workspace.configure(configuration)
    await workspace.succeed(['init'])
  }

  async function names(): Promise<readonly string[]> {
    return (await byHand.listServices()).services.map(({ name }) => name).sort()
  }

  test('Scenario 18: a resume beyond the plan limit keeps the other changes, and the service stays paused and untainted', async () => {
    await apply(service('a', 'paused = true') + service('b'))
    await server.overrideLimits({ servicesMax: 1 })
    workspace.configure(service('a', 'paused = false').replace('60s', '90s') + service('b'))

    const failed = await workspace.run(APPLY)
    const state = workspace.attributes('pharos_service.a')
    const planned = await workspace.run(PLAN)

    expect(failed.exitCode).toBe(1)
    expect(failed.output).toContain('plan limit: at most 1 active services')
    expect(state).toMatchObject({ interval: '1m30s', paused: true })
    expect(planned.output).toContain('0 to add, 1 to change, 0 to destroy')
  })

  test('Scenarios 54 and 55: a change whose response is lost and a deletion that fails once are sent again', async () => {
    await apply(service('a'))
    proxy.loseResponse('PATCH', /\/services\//, 'closed')
    await apply(service('a').replace('60s', '90s'))
    const changed = await workspace.run(PLAN)
    proxy.refuseNext('DELETE', /\/services\//, 500, 'internal error')
    await workspace.succeed(['destroy', '-auto-approve'])

    expect(changed).toMatchObject({ exitCode: 0 })
    expect(await names()).toEqual([])
  })

  test('Scenario 59: a key that is refused during a run removes nothing from the state', async () => {
    await apply(service('a') + service('b'))
    proxy.refuseNext('GET', /\/services\//, 401, 'unknown key')

    const failed = await workspace.run(PLAN)
    const healed = await workspace.run(PLAN)

    expect(failed.exitCode).toBe(1)
    expect(failed.output).toContain('(status 401)')
    expect(healed).toMatchObject({ exitCode: 0 })
  })

  test('Scenario 57: a read_only key can plan, and its apply is refused without changes', async () => {
    const readOnly = { PHAROS_API_KEY: await server.readOnlyKey() }
    workspace.configure(service('a'))

    const planned = await workspace.run(PLAN, readOnly)
    const applied = await workspace.run(APPLY, readOnly)

    expect(planned.exitCode).toBe(2)
    expect(applied.exitCode).toBe(1)
    expect(applied.output).toContain('the API key is read-only')
    expect(await names()).toEqual([])
  })

  test('Scenario 65: moving and removing a service in the state sends no write', async () => {
    await apply(service('a') + service('b'))
    proxy.requests()

    await apply(`${service('renamed').replace('"renamed"\n    interval', '"a"\n    interval').replace('name      = "renamed"', 'name      = "a"')}
      moved {
        from = pharos_service.a
        to   = pharos_service.renamed
      }
      removed {
        from = pharos_service.b
        lifecycle { destroy = false }
      }`)

    expect(proxy.requests().filter((line) => !line.startsWith('GET'))).toEqual([])
    expect(await names()).toEqual(['a', 'b'])
  })

  /** Starts an apply, and sends it `signal` once it has created a third of `count` services. */
  async function applyUntil(signal: NodeJS.Signals, count: number): Promise<void> {
    const child = workspace.start([...APPLY, `-parallelism=${PARALLEL}`])
    const closed = once(child, 'close')
    child.stdout.resume()
    child.stderr.resume()
    await proxy.responded('POST', Math.floor(count / 3))
    child.kill(signal)
    await closed
  }

  async function ids(): Promise<readonly unknown[]> {
    return (await byHand.listServices()).services.map(({ id }) => id).sort()
  }

  const recordedIds = (): readonly unknown[] => [...workspace.state().values()].map(({ id }) => id).sort()

  test(`Scenario 61: an interrupted apply of ${INTERRUPTED} ends with everything that it created in the state, and the next one creates the rest`, async () => {
    await server.overrideLimits({ servicesMax: 1_000, endpointsMax: 1_000 })
    await useInstalled(many(INTERRUPTED))

    await applyUntil('SIGINT', INTERRUPTED)
    const made = await ids()
    const recorded = recordedIds()
    await workspace.succeed(APPLY)

    expect(recorded).toEqual(made)
    expect(made.length).toBeLessThan(INTERRUPTED)
    expect(new Set(await names()).size).toBe(INTERRUPTED)
    expect((await names()).length).toBe(INTERRUPTED)
  })

  test(`Scenario 62: after a killed apply of ${KILLED} nothing is created twice: unrecorded services are adopted, and the rest is created`, async () => {
    await server.overrideLimits({ servicesMax: 1_000, endpointsMax: 1_000 })
    await useInstalled(many(KILLED))

    await applyUntil('SIGKILL', KILLED)
    const again = await workspace.succeed([...APPLY, '-lock=false'])

    expect(again).toContain('is taken over')
    expect((await names()).length).toBe(KILLED)
    expect(new Set(await names()).size).toBe(KILLED)
    expect(recordedIds()).toEqual(await ids())
  })
})
