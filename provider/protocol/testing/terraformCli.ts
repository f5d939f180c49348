/** The real terraform, in a directory of its own with a provider installed from a file-system mirror. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/**
 * Whether `program` is on the PATH. Under CI a missing one throws: there, tests that need it must not be skipped
 * silently.
 */
export function isInstalled(program: string, environment: NodeJS.ProcessEnv = process.env): boolean {
  const found = (environment.PATH ?? '')
    .split(delimiter)
    .some((directory) => existsSync(join(directory, program)))
  if (!found && environment.CI === 'true') throw new Error(`${program} is not on the PATH, and CI=true`)
  return found
}

/** What one command of terraform's did. */
interface CliResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface TerraformDirectory {
  readonly path: string
  /** Writes `main.tf`. */
  configure(hcl: string): void
  /** Runs the program with `args`; resolves with whatever exit code it has. `-no-color` is added. */
  run(...args: readonly string[]): Promise<CliResult>
  /** The text of the state file. */
  stateText(): Promise<string>
  remove(): void
}

export interface DirectoryOptions {
  /** The program to run; terraform when left out. */
  readonly program?: 'terraform' | 'tofu'
  /** Executable of the provider, its address without host (`pharos/sample`) and its version. */
  readonly provider: { readonly executable: string; readonly source: string; readonly version: string }
  readonly environment?: { readonly [name: string]: string }
}

const platform = (): string => {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  return `${system}_${process.arch === 'x64' ? 'amd64' : process.arch}`
}

function installProvider(
  root: string,
  { executable, source, version }: DirectoryOptions['provider'],
): string {
  const type = source.slice(source.indexOf('/') + 1)
  const mirror = join(root, 'mirror')
  // An address without a host means another registry to each of the two programs.
  for (const host of ['registry.terraform.io', 'registry.opentofu.org']) {
    const directory = join(mirror, host, source, version, platform())
    mkdirSync(directory, { recursive: true })
    copyFileSync(executable, join(directory, `terraform-provider-${type}`))
  }
  const configFile = join(root, 'terraform.rc')
  writeFileSync(
    configFile,
    `provider_installation {\n  filesystem_mirror {\n    path = "${mirror}"\n  }\n}\n`,
  )
  return configFile
}

/** A new directory in the system's temporary directory. Call `remove` at the end. */
export function openTerraformDirectory({
  program = 'terraform',
  provider,
  environment = {},
}: DirectoryOptions): TerraformDirectory {
  const root = mkdtempSync(join(tmpdir(), 'terraform-'))
  const path = join(root, 'work')
  mkdirSync(path)
  const env = {
    ...process.env,
    TF_CLI_CONFIG_FILE: installProvider(root, provider),
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    ...environment,
  }
  const run = async (...args: readonly string[]): Promise<CliResult> => {
    const child = spawn(program, [...args, '-no-color'], { cwd: path, env })
    const printed = { stdout: '', stderr: '' }
    child.stdout.on('data', (text) => {
      printed.stdout += text
    })
    child.stderr.on('data', (text) => {
      printed.stderr += text
    })
    const [code] = await once(child, 'close')
    return { exitCode: Number(code), ...printed }
  }
  return {
    path,
    configure: (hcl) => writeFileSync(join(path, 'main.tf'), hcl),
    run,
    stateText: async () => (await run('state', 'pull')).stdout,
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}
