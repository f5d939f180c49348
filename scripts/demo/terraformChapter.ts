import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createByHand, replaceByHand } from './byHand.ts'
import { type DemoParts, type DemoRunner, type DemoShell, expectThat } from './demoRunner.ts'

/** Minor version of the oldest Terraform and OpenTofu with write-only attributes. */
const MINOR_VERSION_MIN = 11

/** `terraform`, or else `tofu`, if it is on the PATH in a sufficient version; `undefined` when neither is. */
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
      // Not on the PATH, or not Terraform: try the next one.
      return false
    }
  })
}

interface TerraformParts extends DemoParts {
  readonly terraform: string
}

/** Applies a CDKTF program, then shows drift behind Terraform's back and its correction. */
export async function demoTerraform(parts: TerraformParts): Promise<void> {
  const stack = await synthesise(parts)
  await apply(parts, stack)
  await heal(parts, stack)
}

/** Synthesises the stack. Returns its folder and the environment for Terraform. */
async function synthesise({ demo, shell, root, terraform }: TerraformParts): Promise<DemoShell> {
  const { folder } = shell
  demo.chapter(`2. ${terraform} applies a CDKTF program (examples/cdktf) through our provider`)
  const installed = JSON.parse(
    (await demo.type('pharos-provider install --mirror mirror --json', shell)).stdout,
  )
  demo.outcome(`provider ${installed.version} for ${installed.platform} in a filesystem mirror`)
  const configuration = join(folder, 'terraform.rc')
  writeFileSync(configuration, installed.cli_configuration)
  const environment = {
    ...shell.environment,
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
  await demo.type('npx tsx main.ts', { folder: project, environment })
  demo.outcome(
    'synthesised: production and staging, four services each, one paused, one with a sealed header',
  )
  return { folder: join(project, 'cdktf.out/stacks/production'), environment }
}

/** Links pharos of this checkout, cdktf and constructs into `project`, as an installation would. */
function linkPackages(root: string, project: string): void {
  const packages = join(project, 'node_modules')
  mkdirSync(packages)
  symlinkSync(root, join(packages, 'pharos'))
  symlinkSync(join(root, 'node_modules/.bin'), join(packages, '.bin'))
  for (const name of ['cdktf', 'constructs'])
    symlinkSync(join(root, 'node_modules', name), join(packages, name))
}

async function apply({ demo, terraform, byHand }: TerraformParts, stack: DemoShell): Promise<void> {
  await demo.type(`${terraform} init`, stack)
  demo.outcome('initialised from the mirror, without a registry')
  await createByHand(demo, byHand, {
    name: 'blog',
    interval_secs: 60,
    regions: ['eu-west-1', 'us-east-1'],
    url: 'https://blog.example.com/',
    assertions: [{ StatusCode: { expected: { Between: [200, 299] } } }],
  })
  await demo.endStep('prepared')
  const applied = await demo.type(`${terraform} apply -auto-approve`, stack)
  demo.outcome(lastLine(applied.output, /^Apply complete!.*$/m))
  const { services } = await byHand.listServices()
  expectThat(services.length === 4, 'the API lists four services')
  expectThat(services.filter(({ paused_at }) => paused_at != null).length === 1, 'one of them is paused')
  await demo.reportRequests(`${terraform} apply of 4 services`)
  await showNoDrift(demo, terraform, stack)
  await demo.reportRequests(`${terraform} plan, no changes`)
}

function expectSecretUnseen({ folder, environment }: DemoShell, plan: string): void {
  const secret = environment.TF_VAR_probe_token ?? ''
  const state = readFileSync(join(folder, '../../../terraform.production.tfstate'), 'utf8')
  expectThat(secret !== '' && !state.includes(secret), 'the secret is not in the state')
  expectThat(!plan.includes(secret), 'the secret is not in the plan')
}

async function showNoDrift(demo: DemoRunner, terraform: string, stack: DemoShell): Promise<void> {
  const { output } = await demo.type(`${terraform} plan -detailed-exitcode`, stack)
  demo.outcome(lastLine(output, /^No changes\..*$/m))
}

/** Changes a service manually. The plan shows exactly that change, and an apply reverts it. */
async function heal({ demo, terraform, byHand }: TerraformParts, stack: DemoShell): Promise<void> {
  demo.say("A service is changed behind Terraform's back:")
  await replaceByHand(demo, byHand, 'home page', { interval_secs: 300 })
  await demo.endStep('changed by hand')
  const plan = `${terraform} plan -detailed-exitcode -out=drift.tfplan`
  const planned = await demo.type(plan, stack, 2)
  const changes = await demo.type(`${terraform} show -json drift.tfplan`, stack)
  expectSecretUnseen(stack, changes.output)
  demo.outcome(lastLine(planned.output, /^ *~ interval .*$/m).trim())
  demo.outcome(lastLine(planned.output, /^Plan: 0 to add, 1 to change, 0 to destroy.*$/m))
  demo.outcome('the secret header is in neither state nor plan')
  await demo.type(`${terraform} apply drift.tfplan`, stack)
  await showNoDrift(demo, terraform, stack)
  await demo.reportRequests(`${terraform} plan, apply, plan of the drift`)
}

function lastLine(output: string, pattern: RegExp): string {
  const line = pattern.exec(output)?.[0]
  expectThat(line !== undefined, `a line like ${pattern} in\n${output}`)
  return line ?? ''
}
