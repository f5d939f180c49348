/** `npm run demo`: the whole of Pharos on real parts, in an empty temporary folder that is removed again. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pc from 'picocolors'
import { Client } from '../../api/client/client.ts'
import { readersEnvironment, root } from '../readersEnvironment.ts'
import { servicesTable, stepsTable } from './closingTable.ts'
import { tellGitops } from './gitopsChapter.ts'
import { type RunningServer, requestsAnswered, startServer, tellServer } from './serverChapter.ts'
import { DemoFailure, type PlanInput, Story } from './story.ts'
import { findTerraform, tellTerraform } from './terraformChapter.ts'

const write = (text: string): void => void process.stdout.write(text)

/** The reader's environment, with what the examples ask for. */
function environmentOf(folder: string): NodeJS.ProcessEnv {
  return {
    ...readersEnvironment(folder),
    PHAROS_MASTER_KEY_FILE: join(folder, 'master.key'),
    SHOP_PROBE_TOKEN: 'only-an-example',
  }
}

function withKey(scene: PlanInput, url: string, apiKey: string): PlanInput {
  return { ...scene, environment: { ...scene.environment, PHAROS_URL: url, PHAROS_API_KEY: apiKey } }
}

/** Steps whose requests are the demo's own, not those of the commands that it shows. */
const NOT_STEPS = ['looked around', 'changed by hand', 'prepared']

async function tell(story: Story, scene: PlanInput, server: RunningServer): Promise<void> {
  const terraformKey = await server.newKey()
  const gitKey = await server.newKey()
  const byHand = new Client({ url: server.url, apiKey: await server.newKey(), userAgent: 'pharos-demo' })
  try {
    const terraform = findTerraform(scene.environment)
    if (terraform === undefined) {
      story.chapter('2. Terraform')
      story.say('skipped: neither terraform nor tofu 1.11 or later is on the PATH')
    } else {
      await tellTerraform({ terraform, story, scene: withKey(scene, server.url, terraformKey), root, byHand })
    }
    await story.endStep('prepared')
    await tellGitops({ story, scene: withKey(scene, server.url, gitKey), root, byHand })
    story.chapter('What now exists')
    const { services } = await byHand.listServices()
    write(`${servicesTable(services)}\n\n${stepsTable(story.steps, NOT_STEPS)}\n`)
  } finally {
    await byHand.close()
  }
}

/** Ends the demo early, when it is interrupted or nobody reads on: nothing is left behind. */
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
    const scene = { folder, environment: environmentOf(folder) }
    const listening = await startServer(scene)
    const story = new Story(write, () => requestsAnswered(listening.adminUrl))
    steps.push(
      () => listening.stop(),
      () => story.stop(),
    )
    await tell(story, scene, await tellServer(story, scene, listening))
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000)
    write(`\n${pc.green('Everything came out as told')}, in ${seconds} s. The folder is removed again.\n`)
    return 0
  } catch (error) {
    // What was ended with us fails too, and that is no news.
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
