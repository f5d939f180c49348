import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../../api/client/client.ts'
import { startServer } from '../../../server/testing/startServer.ts'
import type { RecordingProxy } from '../recordingProxy.ts'
import { openScenario, serviceBlock } from '../scenario.ts'
import { cannotRunTerraform, type TerraformWorkspace, terraformWorkspace } from '../terraformWorkspace.ts'

/** Number of resource addresses that are renamed at once: three times Terraform's parallelism. */
const RENAMED = 12
const PARALLEL = '-parallelism=4'
const APPLY = ['apply', '-auto-approve']

const fleet = (label: string, count: number): string => `resource "pharos_service" "${label}" {
    count     = ${count}
    name      = "fleet \${count.index}"
    interval  = "60s"
    regions   = ["eu-west-1"]
    endpoints = [{ url = "https://example.com/", http = { method = "GET" } }]
  }
`

describe.skipIf(cannotRunTerraform)('terraform, with the provider as it is installed', () => {
  let proxy: RecordingProxy
  let byHand: Client
  let openWorkspace: (stateHome?: string) => Promise<TerraformWorkspace>
  let machine: string

  beforeEach(async () => {
    const server = await startServer({ rateLimit: 'none' })
    await server.overrideLimits({ servicesMax: 1_000, endpointsMax: 1_000 })
    ;({ proxy, byHand } = await openScenario(server))
    machine = mkdtempSync(join(tmpdir(), 'machine-'))
    onTestFinished(() => rmSync(machine, { recursive: true, force: true }))
    openWorkspace = async (stateHome = machine) => {
      const access = { url: proxy.url, apiKey: server.apiKey }
      const workspace = await terraformWorkspace({ ...access, provider: 'installed', stateHome })
      onTestFinished(workspace.remove)
      workspace.configure('')
      await workspace.succeed(['init'])
      return workspace
    }
  })

  async function ids(): Promise<readonly string[]> {
    return (await byHand.listServices()).services.map(({ id }) => id).sort()
  }

  /** Kills Terraform when the response to a creation has passed the proxy, and is in no state yet. */
  async function killedApply(workspace: TerraformWorkspace): Promise<void> {
    const child = workspace.start(APPLY)
    const closed = once(child, 'close')
    child.stdout.resume()
    child.stderr.resume()
    // Only the provider continues from the request on, so that Terraform cannot write its state before the kill.
    proxy.refuseForRate(() => {
      if (proxy.passed.at(-1)?.method === 'POST') child.kill('SIGSTOP')
      return false
    })
    await proxy.responded('POST', 1)
    child.kill('SIGKILL')
    await closed
    proxy.refuseForRate(() => false)
  }

  test(`${RENAMED} resource addresses are renamed without a moved block, and a service is replaced by an equal one that is created first, in one run, also on a machine without the journal, because the plan reads them from the state`, async () => {
    const workspace = await openWorkspace()
    const replaced = serviceBlock('a', 'lifecycle { create_before_destroy = true }')
    const change = [...APPLY, PARALLEL, '-replace=pharos_service.a']
    workspace.configure(fleet('old', RENAMED) + replaced)
    await workspace.succeed(APPLY)
    const created = await ids()

    workspace.configure(fleet('new', RENAMED) + replaced)
    await workspace.succeed(change)
    const changed = await ids()
    workspace.configure(fleet('old', RENAMED) + replaced)
    await workspace.succeed(change, { XDG_STATE_HOME: join(machine, 'elsewhere') })
    const changedElsewhere = await ids()

    expect(new Set([...created, ...changed, ...changedElsewhere]).size).toBe(3 * (RENAMED + 1))
    expect(changedElsewhere.length).toBe(RENAMED + 1)
    expect([...workspace.state().values()].map(({ id }) => id).sort()).toEqual(changedElsewhere)
  })

  test('the same configuration is applied in a second workspace and in a second folder, each with separate services', async () => {
    const first = await openWorkspace()
    const second = await openWorkspace()
    for (const { configure } of [first, second]) configure(fleet('many', 2))

    await first.succeed(APPLY)
    await first.succeed(['workspace', 'new', 'staging'])
    await first.succeed(APPLY)
    await second.succeed(APPLY)

    expect((await ids()).length).toBe(6)
  })

  test('a service that a killed run created is adopted by the next run of the same workspace, and by no other', async () => {
    const killed = await openWorkspace()
    const other = await openWorkspace()
    for (const { configure } of [killed, other]) configure(serviceBlock('a'))
    await killedApply(killed)
    const left = await ids()

    const elsewhere = await other.run(APPLY)
    const again = await killed.run([...APPLY, '-lock=false'])
    const recorded = killed.attributes('pharos_service.a')
    const legitimate = await other.run(APPLY)

    expect(left.length).toBe(1)
    expect(elsewhere.exitCode).toBe(1)
    expect(elsewhere.output).toContain(left[0])
    expect(again.exitCode).toBe(0)
    expect(again.output).toContain('is taken over')
    expect(recorded.id).toBe(left[0])
    expect(legitimate.exitCode).toBe(0)
    expect((await ids()).length).toBe(2)
  })

  test('a service that an interrupted run created and that Terraform lost is adopted by the next run', async () => {
    const workspace = await openWorkspace()
    // The second creation waits until Terraform is interrupted.
    proxy.refuseForRate(() => proxy.passed.filter(({ method }) => method === 'POST').length > 1)
    workspace.configure(serviceBlock('a') + serviceBlock('b', 'depends_on = [pharos_service.a]'))
    const child = workspace.start(APPLY)
    const closed = once(child, 'close')
    child.stdout.resume()
    child.stderr.resume()
    await proxy.responded('POST', 1)
    child.kill('SIGINT')
    await closed
    const left = await ids()

    // As after a second interruption, in the middle of writing the state.
    rmSync(join(workspace.folder, 'terraform.tfstate'))
    proxy.refuseForRate(() => false)
    const output = await workspace.succeed(APPLY)

    expect(left.length).toBe(1)
    expect(output).toContain('"a" exists already and is taken over')
    expect((await ids()).length).toBe(2)
  })

  test('on a machine without a journal, a service left by a killed run is named, and create_guard = false creates another', async () => {
    const workspace = await openWorkspace()
    workspace.configure(serviceBlock('a'))
    await killedApply(workspace)
    const fresh = await openWorkspace(join(machine, 'elsewhere'))

    fresh.configure(serviceBlock('a'))
    const refused = await fresh.run(APPLY)
    fresh.configure(`provider "pharos" {\n  create_guard = false\n}\n${serviceBlock('a')}`)
    const unguarded = await fresh.run(APPLY)

    expect(refused.exitCode).toBe(1)
    expect(refused.output).toContain('create_guard = false')
    expect(unguarded.exitCode).toBe(0)
    expect((await ids()).length).toBe(2)
  })
})
