import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cliConfiguration } from '../distribution/instructions.ts'
import { installIntoMirror, platformName } from '../distribution/mirror.ts'

/** `terraform` or `tofu`, whichever is on the PATH; `undefined` without either. */
export const terraformCommand = ['terraform', 'tofu'].find((command) => {
  try {
    execFileSync(command, ['version'], { stdio: 'ignore', env: { ...process.env, CHECKPOINT_DISABLE: '1' } })
    return true
  } catch {
    // Not on the PATH: the next one may be.
    return false
  }
})

/** The reason for which tests that need Terraform are skipped. Under CI=true they are not: they fail. */
export const cannotRunTerraform = terraformCommand === undefined && process.env.CI !== 'true'

export interface TerraformResult {
  readonly exitCode: number
  /** stdout and stderr as they came. */
  readonly output: string
}

/** A folder with a configuration and the real Terraform, our provider in a mirror, and nothing of the user's own. */
export interface TerraformWorkspace {
  readonly folder: string
  /** Writes `main.tf` with the provider's block in front of `configuration`. */
  readonly configure: (configuration: string) => void
  /** Runs Terraform and returns what it left, whatever its exit code. */
  readonly run: (args: readonly string[], environment?: NodeJS.ProcessEnv) => Promise<TerraformResult>
  /** Runs Terraform; throws with its output unless it exits with 0. */
  readonly succeed: (args: readonly string[], environment?: NodeJS.ProcessEnv) => Promise<string>
  /** Attributes of a resource in the state. */
  readonly attributes: (address: string) => Promise<Readonly<Record<string, unknown>>>
  /** Files below the folder whose bytes hold `text`. */
  readonly filesWith: (text: string) => readonly string[]
  readonly remove: () => void
}

const HEAD = `terraform {
  required_providers {
    pharos = { source = "pharos/pharos" }
  }
}
`

/** A fresh workspace. `environment` is added to what Terraform gets: PHAROS_URL, PHAROS_API_KEY. */
export function terraformWorkspace(environment: NodeJS.ProcessEnv): TerraformWorkspace {
  if (terraformCommand === undefined) throw new Error('neither terraform nor tofu is on the PATH')
  const command = terraformCommand
  const folder = mkdtempSync(join(tmpdir(), 'pharos-terraform-'))
  const platform = platformName(process.platform, process.arch) ?? ''
  const executable = join(process.cwd(), 'dist/terraform-provider-pharos.cjs')
  const mirror = join(folder, '.mirror')
  installIntoMirror({ executable, mirror, version: '0.1.0', platform })
  const configurationFile = join(folder, '.terraformrc')
  writeFileSync(configurationFile, cliConfiguration(mirror))
  const base = {
    ...process.env,
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
    TF_CLI_CONFIG_FILE: configurationFile,
    ...environment,
  }
  const run: TerraformWorkspace['run'] = (args, extra = {}) =>
    new Promise((resolve) => {
      const options = { cwd: folder, env: { ...base, ...extra }, maxBuffer: 64 * 1024 * 1024 }
      execFile(command, [...args], options, (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        resolve({ exitCode, output: `${stdout}${stderr}` })
      })
    })
  const succeed: TerraformWorkspace['succeed'] = async (args, extra) => {
    const { exitCode, output } = await run(args, extra)
    if (exitCode !== 0) throw new Error(`${command} ${args.join(' ')} exited with ${exitCode}:\n${output}`)
    return output
  }
  return {
    folder,
    configure: (configuration) => writeFileSync(join(folder, 'main.tf'), `${HEAD}${configuration}`),
    run,
    succeed,
    attributes: async (address) => {
      const { values } = JSON.parse(await succeed(['show', '-json']))
      const found = values.root_module.resources.find(
        (entry: { address: string }) => entry.address === address,
      )
      return found.values
    },
    filesWith: (text) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
        const file = join(folder, name)
        return statSync(file).isFile() && readFileSync(file).includes(text)
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
