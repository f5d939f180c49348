import { chmodSync, copyFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../api/runtime/makeFolder.ts'

/** The registries of `source = "pharos/pharos"`: the default hosts of Terraform and OpenTofu. */
export const REGISTRY_HOSTS = ['registry.terraform.io', 'registry.opentofu.org'] as const

/** Namespace and type of the provider's source address. */
export const PROVIDER_ADDRESS = 'pharos/pharos'

const OS_NAMES: Readonly<Record<string, string>> = {
  linux: 'linux',
  darwin: 'darwin',
  freebsd: 'freebsd',
  win32: 'windows',
}
const ARCH_NAMES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', arm: 'arm', ia32: '386' }

/**
 * Terraform's name of the platform, such as `linux_amd64`; `undefined` if it has none. `platform` and `arch` are those
 * of Node's `process`. Pure.
 */
export function platformName(platform: string, arch: string): string | undefined {
  const os = OS_NAMES[platform]
  const cpu = ARCH_NAMES[arch]
  return os === undefined || cpu === undefined ? undefined : `${os}_${cpu}`
}

/** Terraform's name of this machine's platform. Throws an Error with a message for the user when it has none. */
export function ownPlatform(): string {
  const platform = platformName(process.platform, process.arch)
  if (platform !== undefined) return platform
  throw new Error(`Terraform has no name for ${process.platform} on ${process.arch}`)
}

/** Whether Terraform starts only executables on `platform`, and no Node scripts. Pure. */
export function needsProgram(platform: string): boolean {
  return platform.startsWith('windows_')
}

/** File name of the script. The extension makes it CommonJS below any package.json. Pure. */
export function scriptName(version: string): string {
  return `terraform-provider-pharos_v${version}.cjs`
}

/** File name of an executable that includes Node. Pure. */
export function programName(version: string, platform: string): string {
  return `terraform-provider-pharos_v${version}${needsProgram(platform) ? '.exe' : ''}`
}

export interface Installation {
  /** The provider's executable: the script, or a program if the platform needs one. */
  readonly executable: string
  readonly mirror: string
  readonly version: string
  readonly platform: string
}

/** Creates a filesystem mirror with the provider for both registries below `mirror`. Returns the executables. */
export function installIntoMirror({
  executable,
  mirror,
  version,
  platform,
}: Installation): readonly string[] {
  return REGISTRY_HOSTS.map((host) => {
    const folder = join(mirror, host, ...PROVIDER_ADDRESS.split('/'), version, platform)
    const name = needsProgram(platform) ? programName(version, platform) : scriptName(version)
    const file = join(folder, name)
    makeFolder(folder)
    // Renamed into place, so that a running terraform finds either the old or the new program.
    const temporary = `${file}.${process.pid}.tmp`
    copyFileSync(executable, temporary)
    chmodSync(temporary, 0o755)
    renameSync(temporary, file)
    return file
  })
}
