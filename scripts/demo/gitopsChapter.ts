import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { replaceByHand, serviceCalled } from './byHand.ts'
import { type DemoParts, type DemoRunner, type DemoShell, expectThat } from './demoRunner.ts'

/** The service of the example that drifts, and the one that is deleted from git. */
const DRIFTED = { name: 'Website', field: 'interval_secs', value: 600 } as const
const DELETED = { name: 'Newsletter', file: 'services/newsletter.yaml' } as const

const PLAN = 'pharos plan . --state ../state.db'
const APPLY = 'pharos apply . --state ../state.db'

/** Applies a git repository of manifests, then shows drift, its correction and pruning. */
export async function demoGitops(parts: DemoParts): Promise<void> {
  const { demo, shell, root } = parts
  demo.chapter('3. pharos applies manifests from a git repository')
  const folder = join(shell.folder, 'monitoring')
  mkdirSync(folder)
  cpSync(join(root, 'examples/gitops'), folder, { recursive: true })
  const repository = { ...shell, folder }
  await demo.type('git init --quiet && git add . && git commit --quiet -m "monitor the shop"', repository)
  await applyTwice(parts, repository)
  await heal(parts, repository)
  await prune(parts, repository)
}

async function applyTwice({ demo, byHand }: DemoParts, repository: DemoShell): Promise<void> {
  const before = (await byHand.listServices()).services.length
  const manifests = readdirSync(join(repository.folder, 'services')).filter((file) => file.endsWith('.yaml'))
  await demo.endStep('inspected')
  const planned = await demo.type(PLAN, repository)
  demo.outcome(lastLine(planned.output))
  await demo.reportRequests('pharos plan')
  const applied = await demo.type(APPLY, repository)
  demo.outcome(lastLine(applied.output))
  await demo.reportRequests(`pharos apply of ${manifests.length} services`)
  const after = (await byHand.listServices()).services.length
  expectThat(after === before + manifests.length, 'each manifest created one service')
  await demo.endStep('inspected')
  await showNothingToDo(demo, repository)
  expectThat((await byHand.listServices()).services.length === after, 'a second apply changes nothing')
  await demo.endStep('inspected')
}

async function showNothingToDo(demo: DemoRunner, repository: DemoShell): Promise<void> {
  const { output } = await demo.type(APPLY, repository)
  demo.outcome(lastLine(output))
  await demo.reportRequests('pharos apply, nothing to do')
}

async function heal({ demo, byHand }: DemoParts, repository: DemoShell): Promise<void> {
  demo.say('A service is changed manually:')
  const before = await serviceCalled(byHand, DRIFTED.name)
  await replaceByHand(demo, byHand, DRIFTED.name, { [DRIFTED.field]: DRIFTED.value })
  await demo.endStep('changed by hand')
  const drift = await demo.type('pharos drift . --state ../state.db', repository, 2)
  demo.outcome(`drift found, exit code 2\n${drift.output.trim()}`)
  await demo.reportRequests('pharos drift')
  const healed = await demo.type(APPLY, repository)
  demo.outcome(lastLine(healed.output))
  await demo.reportRequests('pharos apply, heals')
  const after = await serviceCalled(byHand, DRIFTED.name)
  expectThat(after.interval_secs === before.interval_secs, 'the drift is healed')
  expectThat(after.id === before.id, 'and it is still the same service')
}

async function prune({ demo, byHand }: DemoParts, repository: DemoShell): Promise<void> {
  await serviceCalled(byHand, DELETED.name)
  demo.say('A manifest is deleted from git:')
  await demo.type(`git rm --quiet ${DELETED.file} && git commit --quiet -m "no newsletter"`, repository)
  await demo.endStep('inspected')
  const pruned = await demo.type(APPLY, repository)
  demo.outcome(lastLine(pruned.output))
  await demo.reportRequests('pharos apply, prunes')
  const { services } = await byHand.listServices()
  expectThat(
    !services.some(({ name }) => name === DELETED.name),
    'services deleted from git are deleted from the API',
  )
}

/** The last line of the output of `pharos`, which has the counts. */
function lastLine(output: string): string {
  return output.trim().split('\n').at(-1)?.trim() ?? ''
}
