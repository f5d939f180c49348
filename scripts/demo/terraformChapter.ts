import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../../api/client/client.ts'
import { createByHand, replaceByHand } from './byHand.ts'
import { expectThat, type PlanInput, type Story } from './story.ts'

/** Oldest Terraform and OpenTofu that know write-only attributes. */
const MINOR_VERSION_MIN = 11

/** `terraform` or `tofu`, whichever is on the PATH in a version that will do; `undefined` when neither is. */
export function findTerraform(environment: NodeJS.ProcessEnv): string | undefined {
  return ['terraform', 'tofu'].find((command) => {
    try {
      const env = { ...environment, CHECKPOINT_DISABLE: '1' }
      const output = execFileSync(command, ['version', '-json'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
      const [major, minor] = String(JSON.parse(String(output)).terraform_version)
        .split('.')
        .map(Number)
      return (major ?? 0) > 1 || (minor ?? 0) >= MINOR_VERSION_MIN
    } catch {
      // Not on the PATH, or nothing that answers like Terraform: the next one may.
      return false
    }
  })
}

export interface TerraformParts {
  readonly terraform: string
  readonly story: Story
  readonly scene: PlanInput
  readonly root: string
  /** Somebody else's access to the same organisation. */
  readonly byHand: Client
}

/** A CDKTF program applied, drifted behind Terraform's back, and healed. */
export async function tellTerraform(parts: TerraformParts): Promise<void> {
  const stack = await synthesise(parts)
  await apply(parts, stack)
  await heal(parts, stack)
}

/** The folder of the synthesised stack, with the environment in which Terraform runs there. */
async function synthesise({ story, scene, root, terraform }: TerraformParts): Promise<PlanInput> {
  const { folder } = scene
  story.chapter(`2. ${terraform} applies a CDKTF program (examples/cdktf) through our provider`)
  const installed = JSON.parse(
    (await story.type('pharos-provider install --mirror mirror --json', scene)).output,
  )
  story.outcome(`provider ${installed.version} for ${installed.platform} in a filesystem mirror`)
  const configuration = join(folder, 'terraform.rc')
  writeFileSync(configuration, installed.cli_configuration)
  const environment = {
    ...scene.environment,
    CHECKPOINT_DISABLE: '1',
    TF_CLI_CONFIG_FILE: configuration,
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    TF_CLI_ARGS: '-no-color',
    TF_VAR_probe_token: randomBytes(24).toString('hex'),
  }
  const project = join(folder, 'cdktf')
  cpSync(join(root, 'examples/cdktf'), project, { recursive: true })
  linkPackages(root, project)
  await story.type('npx tsx main.ts', { folder: project, environment })
  story.outcome(
    'synthesised: production and staging, four services each, one paused, one with a sealed header',
  )
  return { folder: join(project, 'cdktf.out/stacks/production'), environment }
}

/** What "npm install pharos cdktf constructs tsx" would do in `project`, from this checkout. */
function linkPackages(root: string, project: string): void {
  const packages = join(project, 'node_modules')
  mkdirSync(packages)
  symlinkSync(root, join(packages, 'pharos'))
  symlinkSync(join(root, 'node_modules/.bin'), join(packages, '.bin'))
  for (const name of ['cdktf', 'constructs'])
    symlinkSync(join(root, 'node_modules', name), join(packages, name))
}

async function apply({ story, terraform, byHand }: TerraformParts, stack: PlanInput): Promise<void> {
  await story.type(`${terraform} init`, stack)
  story.outcome('initialised from the mirror, without a registry')
  await createByHand(story, byHand, { name: 'blog', url: 'https://blog.example.com/' })
  await story.endStep('prepared')
  const applied = await story.type(`${terraform} apply -auto-approve`, stack)
  story.outcome(lastLine(applied.output, /^Apply complete!.*$/m))
  const { services } = await byHand.listServices()
  expectThat(services.length === 4, 'the API lists four services')
  expectThat(services.filter(({ paused_at }) => paused_at != null).length === 1, 'one of them is paused')
  await story.tellRequests(`${terraform} apply of 4 services`)
  await tellClean(story, terraform, stack)
  await story.tellRequests(`${terraform} plan, no changes`)
}

function expectSecretUnseen({ folder, environment }: PlanInput, plan: string): void {
  const secret = environment.TF_VAR_probe_token ?? ''
  const state = readFileSync(join(folder, '../../../terraform.production.tfstate'), 'utf8')
  expectThat(secret !== '' && !state.includes(secret), 'the secret is not in the state')
  expectThat(!plan.includes(secret), 'the secret is not in the plan')
}

async function tellClean(story: Story, terraform: string, stack: PlanInput): Promise<void> {
  const { output } = await story.type(`${terraform} plan -detailed-exitcode`, stack)
  story.outcome(lastLine(output, /^No changes\..*$/m))
}

/** Somebody edits a service by hand; the plan shows just that, and an apply takes it back. */
async function heal({ story, terraform, byHand }: TerraformParts, stack: PlanInput): Promise<void> {
  story.say("Somebody changes a service behind Terraform's back:")
  await replaceByHand(story, byHand, 'home page', { interval_secs: 300 })
  await story.endStep('changed by hand')
  const plan = `${terraform} plan -detailed-exitcode -out=drift.tfplan`
  const planned = await story.type(plan, stack, 2)
  const changes = await story.type(`${terraform} show -json drift.tfplan`, stack)
  expectSecretUnseen(stack, changes.output)
  expectThat(
    changedAttributes(changes.output) === 'pharos_service.home interval',
    'the plan shows exactly that',
  )
  story.outcome(lastLine(planned.output, /^ *~ interval .*$/m).trim())
  story.outcome(lastLine(planned.output, /^Plan:.*$/m))
  story.outcome('the secret header is in neither state nor plan')
  await story.type(`${terraform} apply drift.tfplan`, stack)
  await tellClean(story, terraform, stack)
  await story.tellRequests(`${terraform} plan, apply, plan of the drift`)
}

interface PlanDocument {
  readonly resource_changes: readonly {
    readonly address: string
    readonly change: {
      readonly actions: readonly string[]
      readonly before: Readonly<Record<string, unknown>>
      readonly after: Readonly<Record<string, unknown>>
    }
  }[]
}

/** `address attribute` of everything that the plan changes. */
function changedAttributes(json: string): string {
  const { resource_changes }: PlanDocument = JSON.parse(json)
  return resource_changes
    .flatMap(({ address, change: { actions, before, after } }) => {
      if (actions.join() === 'no-op') return []
      const names = Object.keys(before).filter(
        (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
      )
      return names.map((name) => `${address} ${name}`)
    })
    .join(', ')
}

function lastLine(output: string, pattern: RegExp): string {
  const line = pattern.exec(output)?.[0]
  expectThat(line !== undefined, `a line like ${pattern} in\n${output}`)
  return line ?? ''
}
