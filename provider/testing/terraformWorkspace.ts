import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { cliConfiguration } from '../distribution/instructions.ts'
import { installIntoMirror, PROVIDER_ADDRESS, platformName, REGISTRY_HOSTS } from '../distribution/mirror.ts'
import { pharosProvider } from '../pharosProvider.ts'
import { serveForReattach } from '../protocol/reattach.ts'
import { findTerraform, openTerraformDirectory } from '../protocol/testing/terraformCli.ts'

/** Whether tests that need the real Terraform are skipped. Under CI=true they fail instead. */
export const cannotRunTerraform = findTerraform() === undefined

export interface TerraformResult {
  readonly exitCode: number
  /** stdout followed by stderr. */
  readonly output: string
}

export interface WorkspaceOptions {
  readonly url: string
  readonly apiKey: string
  /**
   * `in-process`: Terraform talks to a provider in this process, without init, handshake and TLS. This is the default,
   * unless PHAROS_TEST_INSTALLED is set. `installed`: Terraform starts the built executable from a mirror, as for a
   * user, after `init`.
   */
  readonly provider?: 'in-process' | 'installed'
  /** Folder of the provider's journal, which represents the machine. Default: a separate one. */
  readonly stateHome?: string
}

type Attributes = Readonly<Record<string, unknown>>

/** A folder for a configuration, with the real Terraform and our provider, and without the user's settings. */
export interface TerraformWorkspace {
  readonly folder: string
  /** Writes `main.tf`: the provider requirement, then `configuration`. */
  readonly configure: (configuration: string) => void
  /** Runs Terraform and returns its result for any exit code. */
  readonly run: (args: readonly string[], environment?: NodeJS.ProcessEnv) => Promise<TerraformResult>
  /** Runs Terraform; throws with its output unless it exits with 0. */
  readonly succeed: (args: readonly string[], environment?: NodeJS.ProcessEnv) => Promise<string>
  /** Starts Terraform and leaves it running, for tests that interrupt it. */
  readonly start: (args: readonly string[]) => ChildProcessWithoutNullStreams
  /** Attributes of each resource and data source in the state, by address; empty when there is no state. */
  readonly state: () => ReadonlyMap<string, Attributes>
  /** Attributes of a resource or data source in the state. */
  readonly attributes: (address: string) => Attributes
  /** Removes the state. */
  readonly forget: () => void
  /** Files below the folder whose bytes contain `text`. */
  readonly filesWith: (text: string) => readonly string[]
  readonly remove: () => void
}

/** The first block of every configuration in tests. */
const HEAD = `terraform {
  required_providers {
    pharos = { source = "pharos/pharos" }
  }
}
`

/** Installs the built provider below `mirror`. Returns the CLI configuration that finds it there. */
export function installBuiltProvider(mirror: string): string {
  const platform = platformName(process.platform, process.arch) ?? ''
  const executable = join(process.cwd(), 'dist/terraform-provider-pharos.cjs')
  installIntoMirror({ executable, mirror, version: packageJson.version, platform })
  return cliConfiguration(mirror)
}

/** Creates a workspace with the API's address and key in the environment. */
export async function terraformWorkspace(options: WorkspaceOptions): Promise<TerraformWorkspace> {
  const ownStateHome = mkdtempSync(join(tmpdir(), 'terraform-state-'))
  const environment = {
    PHAROS_URL: options.url,
    PHAROS_API_KEY: options.apiKey,
    XDG_STATE_HOME: options.stateHome ?? ownStateHome,
  }
  const isInstalledAnyway = options.provider === undefined && Boolean(process.env.PHAROS_TEST_INSTALLED)
  const provider =
    isInstalledAnyway || options.provider === 'installed'
      ? undefined
      : await serveInProcess({ ...process.env, ...environment })
  const directory = openTerraformDirectory({
    environment: { ...environment, ...provider?.terraformEnvironment },
    ...(provider === undefined ? { install: installBuiltProvider } : {}),
  })
  const stateFile = join(directory.path, 'terraform.tfstate')
  const run: TerraformWorkspace['run'] = async (args, extra = {}) => {
    provider?.useEnvironment({ ...environment, ...extra })
    const { exitCode, stdout, stderr } = await directory.runWith(extra, ...args)
    return { exitCode, output: `${stdout}${stderr}` }
  }
  const succeed: TerraformWorkspace['succeed'] = async (args, extra) => {
    const { exitCode, output } = await run(args, extra)
    if (exitCode !== 0) throw new Error(`terraform ${args.join(' ')} exited with ${exitCode}:\n${output}`)
    return output
  }
  const configure: TerraformWorkspace['configure'] = (configuration) =>
    directory.configure(`${HEAD}${configuration}`)
  if (isInstalledAnyway) {
    configure('')
    await succeed(['init'])
  }
  return {
    folder: directory.path,
    configure,
    run,
    succeed,
    start: (args) => directory.start({}, ...args),
    state: () => instancesIn(stateFile),
    attributes: (address) => {
      const found = instancesIn(stateFile).get(address)
      if (found === undefined) throw new Error(`${address} is not in the state`)
      return found
    },
    forget: () => rmSync(stateFile),
    filesWith: (text) =>
      readdirSync(directory.path, { recursive: true, encoding: 'utf8' }).filter((name) => {
        const file = join(directory.path, name)
        return statSync(file).isFile() && readFileSync(file).includes(text)
      }),
    remove: () => {
      provider?.close()
      directory.remove()
      rmSync(ownStateHome, { recursive: true, force: true })
    },
  }
}

/** The attributes of each instance in the state `file`, by address, without a start of Terraform. */
function instancesIn(file: string): ReadonlyMap<string, Attributes> {
  if (!existsSync(file)) return new Map()
  const { resources }: { readonly resources: readonly StateResource[] } = JSON.parse(
    readFileSync(file, 'utf8'),
  )
  return new Map(
    resources.flatMap(({ mode, type, name, instances }) =>
      instances.map(({ index_key, attributes }) => {
        const index = index_key === undefined ? '' : `[${JSON.stringify(index_key)}]`
        return [`${mode === 'data' ? 'data.' : ''}${type}.${name}${index}`, attributes] as const
      }),
    ),
  )
}

/** A resource or data source in Terraform's state file. */
interface StateResource {
  readonly mode: 'managed' | 'data'
  readonly type: string
  readonly name: string
  readonly instances: readonly { readonly index_key?: string | number; readonly attributes: Attributes }[]
}

/** A provider in the process of a test. */
export interface ProviderInProcess {
  /** Environment variables with which Terraform finds the provider, without a provider process, `init` or TLS. */
  readonly terraformEnvironment: NodeJS.ProcessEnv
  /** Sets the provider's environment from the next run on. */
  readonly useEnvironment: (environment: NodeJS.ProcessEnv) => void
  readonly close: () => void
}

/** Serves the provider in this process. `first` is its initial environment. */
export async function serveInProcess(first: NodeJS.ProcessEnv): Promise<ProviderInProcess> {
  const environment = { ...first }
  const served = await serveForReattach(
    pharosProvider(packageJson.version, environment),
    REGISTRY_HOSTS.map((host) => `${host}/${PROVIDER_ADDRESS}`),
  )
  return {
    terraformEnvironment: { TF_REATTACH_PROVIDERS: served.environmentValue },
    useEnvironment: (next) => void Object.assign(environment, next),
    close: served.close,
  }
}
