/** `npm run demo`: demonstrates all of Pharos with real parts, in a temporary folder that is removed afterwards. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pc from 'picocolors'
import { Client } from '../../api/client/client.ts'
import { readersEnvironment, root } from '../readersEnvironment.ts'
import { servicesTable, stepsTable } from './closingTable.ts'
import { DemoFailure, DemoRunner, type DemoShell } from './demoRunner.ts'
import { demoGitops } from './gitopsChapter.ts'
import { demoMonitoring } from './monitoringChapter.ts'
import { type RunningServer, requestCount, showServer, startServer } from './serverChapter.ts'
import { demoTerraform, findTerraform } from './terraformChapter.ts'

const write = (text: string): void => void process.stdout.write(text)

/** The reader's environment, with the variables that the examples need. */
function environmentOf(folder: string): NodeJS.ProcessEnv {
  return {
    ...readersEnvironment(folder),
    PHAROS_MASTER_KEY_FILE: join(folder, 'master.key'),
    SHOP_PROBE_TOKEN: 'only-an-example',
  }
}

function withKey(shell: DemoShell, url: string, apiKey: string): DemoShell {
  return { ...shell, environment: { ...shell.environment, PHAROS_URL: url, PHAROS_API_KEY: apiKey } }
}

/** Steps whose requests are made by the demo itself, not by the commands that it shows. */
const NOT_STEPS = ['inspected', 'changed by hand', 'prepared']

async function showUse(demo: DemoRunner, shell: DemoShell, server: RunningServer): Promise<void> {
  const terraformKey = await server.newKey()
  const gitKey = await server.newKey()
  const byHand = new Client({ url: server.url, apiKey: await server.newKey(), userAgent: 'pharos-demo' })
  try {
    const terraform = findTerraform(shell.environment)
    if (terraform === undefined) {
      demo.chapter('2. Terraform')
      demo.say('skipped: neither terraform nor tofu 1.11 or later is on the PATH')
    } else {
      await demoTerraform({ terraform, demo, shell: withKey(shell, server.url, terraformKey), root, byHand })
    }
    await demo.endStep('prepared')
    await demoGitops({ demo, shell: withKey(shell, server.url, gitKey), root, byHand })
    await demoMonitoring({ demo, shell, server, byHand })
    demo.chapter('What now exists')
    const { services } = await byHand.listServices()
    write(`${servicesTable(services)}\n\n${stepsTable(demo.steps, NOT_STEPS)}\n`)
  } finally {
    await byHand.close()
  }
}

/** Ends the demo and cleans up on an interrupt, or when the reader of its output is gone. */
function onInterruption(clean: () => Promise<void>): void {
  const end = (exitCode: number): void => {
    void clean().finally(() => process.exit(exitCode))
  }
  process.once('SIGINT', () => end(130))
  process.once('SIGTERM', () => end(143))
  process.once('SIGHUP', () => end(129))
  process.stdout.on('error', () => end(1))
}

async function run(): Promise<number> {
  const startedAtMs = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'pharos-demo-'))
  const steps: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const clean = async (): Promise<void> => {
    for (const step of steps.splice(0).reverse()) await step()
  }
  let isInterrupted = false
  onInterruption(() => {
    isInterrupted = true
    return clean()
  })
  try {
    const shell = { folder, environment: environmentOf(folder) }
    const listening = await startServer(shell)
    const demo = new DemoRunner(write, () => requestCount(listening.adminUrl))
    steps.push(
      () => listening.stop(),
      () => demo.stop(),
    )
    await showUse(demo, shell, await showServer(demo, shell, listening))
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000)
    write(
      `\n${pc.green('Every step gave the expected result')}, in ${seconds} s. The folder has been removed.\n`,
    )
    return 0
  } catch (error) {
    // Processes that end together with the demo also fail, as expected.
    if (isInterrupted) return 1
    const reason =
      error instanceof DemoFailure ? error.message : error instanceof Error ? error.stack : String(error)
    process.stderr.write(`\n${pc.red('The demo failed:')} ${reason}\n`)
    return 1
  } finally {
    await clean()
  }
}

process.exitCode = await run()
