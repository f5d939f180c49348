import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../../api/client/client.ts'
import { replaceByHand, serviceCalled } from './byHand.ts'
import { expectThat, type PlanInput, type Story } from './story.ts'

export interface GitopsParts {
  readonly story: Story
  readonly scene: PlanInput
  readonly root: string
  readonly byHand: Client
}

/** The service of the example that is drifted, and the one that is deleted from git. */
const DRIFTED = { name: 'Website', field: 'interval_secs', value: 600 } as const
const DELETED = { name: 'Newsletter', file: 'services/newsletter.yaml' } as const

const PLAN = 'pharos plan . --state ../state.db'
const APPLY = 'pharos apply . --state ../state.db'

/** A git repository of manifests applied, drifted, healed and pruned. */
export async function tellGitops(parts: GitopsParts): Promise<void> {
  const { story, scene, root } = parts
  story.chapter('3. pharos makes the API agree with a git repository')
  const folder = join(scene.folder, 'monitoring')
  mkdirSync(folder)
  cpSync(join(root, 'examples/gitops'), folder, { recursive: true })
  const repository = { ...scene, folder }
  await story.type('git init --quiet && git add . && git commit --quiet -m "monitor the shop"', repository)
  await applyTwice(parts, repository)
  await heal(parts, repository)
  await prune(parts, repository)
}

async function applyTwice({ story, byHand }: GitopsParts, repository: PlanInput): Promise<void> {
  const before = (await byHand.listServices()).services.length
  const manifests = readdirSync(join(repository.folder, 'services')).filter((file) => file.endsWith('.yaml'))
  await story.endStep('looked around')
  const planned = await story.type(PLAN, repository)
  story.outcome(lastLine(planned.output))
  await story.tellRequests('pharos plan')
  const applied = await story.type(APPLY, repository)
  story.outcome(lastLine(applied.output))
  await story.tellRequests(`pharos apply of ${manifests.length} services`)
  const after = (await byHand.listServices()).services.length
  expectThat(after === before + manifests.length, 'each manifest made one service')
  await story.endStep('looked around')
  await tellNothingToDo(story, repository)
  expectThat((await byHand.listServices()).services.length === after, 'a second apply changes nothing')
  await story.endStep('looked around')
}

async function tellNothingToDo(story: Story, repository: PlanInput): Promise<void> {
  const { output } = await story.type(APPLY, repository)
  story.outcome(lastLine(output))
  await story.tellRequests('pharos apply, nothing to do')
}

async function heal({ story, byHand }: GitopsParts, repository: PlanInput): Promise<void> {
  story.say('Somebody changes a service by hand:')
  const before = await serviceCalled(byHand, DRIFTED.name)
  await replaceByHand(story, byHand, DRIFTED.name, { [DRIFTED.field]: DRIFTED.value })
  await story.endStep('changed by hand')
  const drift = await story.type('pharos drift . --state ../state.db', repository, 2)
  story.outcome(`drift found, exit code 2\n${drift.output.trim()}`)
  await story.tellRequests('pharos drift')
  const healed = await story.type(APPLY, repository)
  story.outcome(lastLine(healed.output))
  await story.tellRequests('pharos apply, heals')
  const after = await serviceCalled(byHand, DRIFTED.name)
  expectThat(after.interval_secs === before.interval_secs, 'the drift is healed')
  expectThat(after.id === before.id, 'and it is still the same service')
}

async function prune({ story, byHand }: GitopsParts, repository: PlanInput): Promise<void> {
  await serviceCalled(byHand, DELETED.name)
  story.say('A manifest is deleted from git:')
  await story.type(`git rm --quiet ${DELETED.file} && git commit --quiet -m "no newsletter"`, repository)
  await story.endStep('looked around')
  const pruned = await story.type(APPLY, repository)
  story.outcome(lastLine(pruned.output))
  await story.tellRequests('pharos apply, prunes')
  const { services } = await byHand.listServices()
  expectThat(!services.some(({ name }) => name === DELETED.name), 'what left git left the API')
}

/** The last line of what `pharos` says: the counts. */
function lastLine(output: string): string {
  return output.trim().split('\n').at(-1)?.trim() ?? ''
}
