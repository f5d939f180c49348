import { resolve } from 'node:path'
import { builtExecutable, builtReference } from './builtExecutable.ts'
import { ownPlatform } from './mirror.ts'
import { developmentVersion, type PackagedProgram, packageInto, SCRIPT_PLATFORMS } from './registryPackage.ts'
import { standalonePrograms, tryProgram } from './standalone.ts'

export interface PackageCommandOptions {
  readonly out: string
  readonly platform?: readonly string[]
  readonly standalone?: true
  /** The Node executables of other platforms, as `platform=path`. */
  readonly standaloneNode?: readonly string[]
  readonly dev?: true
  readonly sign?: string
  readonly json?: true
}

/** Writes a release and prints its files. Throws an Error with a message for the user. */
export function packageRelease(options: PackageCommandOptions, released: string): void {
  const executable = builtExecutable()
  const version = options.dev === true ? developmentVersion(released, executable) : released
  const folder = resolve(options.out)
  const nodes = nodesOf(options)
  const files = packageInto({
    executable,
    folder,
    version,
    docs: builtReference(),
    signingKey: options.sign,
    platforms: checkedPlatforms(options.platform ?? SCRIPT_PLATFORMS),
    standalone: triedPrograms(executable, nodes),
  })
  const marks = [...nodes.keys()].map((platform) => ({ platform, wasRun: platform === ownPlatform() }))
  if (options.json === true) {
    const document = { version, folder, files, ...(marks.length === 0 ? {} : { standalone: marks }) }
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
    return
  }
  const listed = files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('')
  process.stdout.write(`packaged version ${version} in ${folder}:\n\n${listed}`)
  for (const { platform, wasRun } of marks) {
    const state = wasRun ? 'built, and started on this machine' : 'only built: start it on such a machine'
    process.stdout.write(`${platform} needs no Node: ${state}\n`)
  }
}

function checkedPlatforms(platforms: readonly string[]): readonly string[] {
  const known: readonly string[] = SCRIPT_PLATFORMS
  for (const platform of platforms) {
    if (!known.includes(platform))
      throw new Error(`unknown platform ${platform}: use one of ${known.join(', ')}`)
  }
  return platforms
}

/** The Node executables to embed in programs, by platform. */
function nodesOf({ standalone, standaloneNode = [] }: PackageCommandOptions): ReadonlyMap<string, string> {
  const nodes = new Map<string, string>()
  if (standalone === true) nodes.set(ownPlatform(), process.execPath)
  for (const given of standaloneNode) {
    const [platform = '', path = ''] = given.split(/=(.*)/s)
    if (path === '') throw new Error(`--standalone-node takes PLATFORM=FILE, not ${given}`)
    nodes.set(platform, path)
  }
  return nodes
}

/** The programs that include Node. The one for this platform has been started as a test. */
function* triedPrograms(executable: string, nodes: ReadonlyMap<string, string>): Iterable<PackagedProgram> {
  for (const program of standalonePrograms(executable, nodes)) {
    const wasRun = program.platform === ownPlatform()
    if (wasRun) tryProgram(program)
    yield { ...program, node: process.version, wasRun }
  }
}
