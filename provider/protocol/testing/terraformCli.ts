/** Runs the real terraform, in a directory of its own with a provider installed from a file-system mirror. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/**
 * The program to test with: terraform, else tofu; `undefined` when neither is on the PATH. Under CI=true this throws
 * instead, so that tests are not skipped silently.
 */
export function findTerraform(
  environment: NodeJS.ProcessEnv = process.env,
): 'terraform' | 'tofu' | undefined {
  const directories = (environment.PATH ?? '').split(delimiter)
  const found = (['terraform', 'tofu'] as const).find((program) =>
    directories.some((directory) => existsSync(join(directory, program))),
  )
  if (found === undefined && environment.CI === 'true') {
    throw new Error('neither terraform nor tofu is on the PATH, and CI=true')
  }
  return found
}

/** The result of one terraform command. */
export interface CliResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface TerraformDirectory {
  readonly path: string
  /** Writes `main.tf`. */
  configure(hcl: string): void
  /** Runs the program with `args` and `-no-color`. Resolves for every exit code. */
  run(...args: readonly string[]): Promise<CliResult>
  /** Like `run`, with further environment variables. */
  runWith(environment: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<CliResult>
  /** Starts the program and leaves it running, for tests that interrupt it. */
  start(environment: NodeJS.ProcessEnv, ...args: readonly string[]): ChildProcessWithoutNullStreams
  /** The text of the state file. */
  stateText(): string
  remove(): void
}

export interface DirectoryOptions {
  /**
   * Installs providers below the folder `mirror` and returns the CLI configuration that finds them there. Absent for a
   * provider that already runs: nothing is installed then, and no init is needed.
   */
  readonly install?: (mirror: string) => string
  readonly environment?: NodeJS.ProcessEnv
}

/** Executable of a provider, its address without host (`pharos/sample`) and its version. */
export interface InstalledProvider {
  readonly executable: string
  readonly source: string
  readonly version: string
}

const platform = (): string => {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  return `${system}_${process.arch === 'x64' ? 'amd64' : process.arch}`
}

/** The `install` of a directory for one provider. */
export function installing({
  executable,
  source,
  version,
}: InstalledProvider): NonNullable<DirectoryOptions['install']> {
  const type = source.slice(source.indexOf('/') + 1)
  return (mirror) => {
    // An address without a host means a different registry to terraform and to tofu.
    for (const host of ['registry.terraform.io', 'registry.opentofu.org']) {
      const directory = join(mirror, host, source, version, platform())
      mkdirSync(directory, { recursive: true })
      copyFileSync(executable, join(directory, `terraform-provider-${type}`))
    }
    return `provider_installation {\n  filesystem_mirror {\n    path = "${mirror}"\n  }\n}\n`
  }
}

/** A new directory in the system's temporary directory. Call `remove` at the end. */
export function openTerraformDirectory({ install, environment = {} }: DirectoryOptions): TerraformDirectory {
  const program = findTerraform()
  if (program === undefined) throw new Error('neither terraform nor tofu is on the PATH')
  const root = mkdtempSync(join(tmpdir(), 'terraform-'))
  const path = join(root, 'work')
  mkdirSync(path)
  // Even an empty configuration is written, so that the user's own is not read.
  const configFile = join(root, 'terraform.rc')
  writeFileSync(configFile, install?.(join(root, 'mirror')) ?? '')
  const base = {
    ...process.env,
    TF_CLI_CONFIG_FILE: configFile,
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    ...environment,
  }
  const start: TerraformDirectory['start'] = (extra, ...args) =>
    spawn(program, [...args, '-no-color'], { cwd: path, env: { ...base, ...extra } })
  const runWith: TerraformDirectory['runWith'] = (extra, ...args) => finished(start(extra, ...args))
  const run: TerraformDirectory['run'] = (...args) => runWith({}, ...args)
  return {
    path,
    configure: (hcl) => writeFileSync(join(path, 'main.tf'), hcl),
    run,
    runWith,
    start,
    stateText: () => readFileSync(join(path, 'terraform.tfstate'), 'utf8'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** The output and exit code of `child`; -1 when a signal ended it. */
export async function finished(child: ChildProcessWithoutNullStreams): Promise<CliResult> {
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.stderr += text
  })
  const [code] = await once(child, 'close')
  return { exitCode: code === null ? -1 : Number(code), ...printed }
}
