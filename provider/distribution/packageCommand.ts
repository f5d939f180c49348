import { resolve } from 'node:path'
import { builtExecutable, builtReference } from './builtExecutable.ts'
import { platformName } from './mirror.ts'
import { developmentVersion, packageInto, SCRIPT_PLATFORMS } from './registryPackage.ts'
import { standaloneProgram } from './standalone.ts'

export interface PackageCommandOptions {
  readonly out: string
  readonly platform?: readonly string[]
  readonly standalone?: true
  readonly dev?: true
  readonly sign?: string
  readonly json?: true
}

/** Writes a release and says what it is made of. Throws with a sentence for the user when it cannot. */
export function packageRelease(options: PackageCommandOptions, released: string): void {
  const executable = builtExecutable()
  const version = options.dev === true ? developmentVersion(released, executable) : released
  const folder = resolve(options.out)
  const files = packageInto({
    executable,
    folder,
    version,
    docs: builtReference(),
    signingKey: options.sign,
    platforms: checkedPlatforms(options.platform ?? SCRIPT_PLATFORMS),
    standalone: options.standalone === true ? standaloneHere(executable) : undefined,
  })
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ version, folder, files }, null, 2)}\n`)
    return
  }
  const listed = files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('')
  process.stdout.write(`packaged version ${version} in ${folder}:\n\n${listed}`)
}

function checkedPlatforms(platforms: readonly string[]): readonly string[] {
  const known: readonly string[] = SCRIPT_PLATFORMS
  for (const platform of platforms) {
    if (!known.includes(platform)) throw new Error(`no platform ${platform}: one of ${known.join(', ')}`)
  }
  return platforms
}

function standaloneHere(executable: string): { readonly platform: string; readonly bytes: Buffer } {
  const platform = platformName(process.platform, process.arch)
  if (platform === undefined)
    throw new Error(`Terraform has no name for ${process.platform} on ${process.arch}`)
  return { platform, bytes: standaloneProgram(executable) }
}
