import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { makeFolder } from '../../api/runtime/makeFolder.ts'
import { programName, scriptName } from './mirror.ts'
import type { StandaloneProgram } from './standalone.ts'

/** Terraform's names of the platforms on which it can start a Node script. */
export const SCRIPT_PLATFORMS = [
  'darwin_amd64',
  'darwin_arm64',
  'freebsd_amd64',
  'linux_amd64',
  'linux_arm',
  'linux_arm64',
] as const

/** A program that includes Node. */
export interface PackagedProgram extends StandaloneProgram {
  /** The version of its Node, such as `v22.12.0`. */
  readonly node: string
  /** Whether it was started as a test on the machine that built it. */
  readonly wasRun: boolean
}

/** The registry manifest, with the protocol version of the provider. */
const MANIFEST = { version: 1, metadata: { protocol_versions: ['6.0'] } }

export interface PackageOptions {
  /** The provider's executable: a Node script. */
  readonly executable: string
  /** Folder for the files; created when missing. */
  readonly folder: string
  readonly version: string
  readonly platforms: readonly string[]
  /**
   * Folder with the reference of the provider, which becomes `docs/`, where registries read it in the repository of a
   * release.
   */
  readonly docs: string
  /** GnuPG key that signs the checksums; absent for no signature. */
  readonly signingKey?: string | undefined
  /** Programs that include Node and replace the script in the zips of their platforms. */
  readonly standalone?: Iterable<PackagedProgram>
}

/** A file of a release. */
export interface ReleaseFile {
  readonly name: string
  /** SHA-256 in hexadecimal; for a zip, the `zh` hash of Terraform's lock file. */
  readonly sha256: string
}

/** The system that defines the attributes of a file in an archive: Unix. */
const UNIX = 3
/** A regular file with permissions 0755, in the half of the attributes that Unix reads. */
const EXECUTABLE = (0o100755 << 16) >>> 0
/** The earliest time that archives support, in local time, so that the bytes of an archive depend only on its files. */
const EARLIEST = new Date(1980, 0, 1)

/** The fastest compression. The default takes twice as long for a Node of 100 MB and saves 5 % of the size. */
const LEVEL = 1

/** A zip archive with the executable file `name`. Pure: the same bytes give the same archive. */
function zipOf(name: string, bytes: Buffer): Buffer {
  return Buffer.from(
    zipSync({ [name]: [bytes, { os: UNIX, attrs: EXECUTABLE, mtime: EARLIEST, level: LEVEL }] }),
  )
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/**
 * Writes the files for a registry: a zip for each platform, the manifest, the checksums of both with their signature,
 * and the reference. For users it also writes `…_platforms.json`, with the contents of each zip and whether the program
 * was started. Returns the files for registries, sorted by name and without the reference. The same executable and
 * version give the same bytes, except for the signature. Throws an Error with a message for the user when GnuPG refuses
 * to sign.
 */
export function packageInto(options: PackageOptions): readonly ReleaseFile[] {
  const { executable, folder, version, platforms, docs, signingKey, standalone = [] } = options
  const prefix = `terraform-provider-pharos_${version}`
  const scriptZip = zipOf(scriptName(version), readFileSync(executable))
  const contents = new Map<string, Buffer>()
  const programs = new Map<string, object>()
  for (const platform of platforms) {
    contents.set(`${prefix}_${platform}.zip`, scriptZip)
    programs.set(platform, { program: 'script', was_run: false })
  }
  for (const { platform, bytes, node, wasRun } of standalone) {
    contents.set(`${prefix}_${platform}.zip`, zipOf(programName(version, platform), bytes))
    programs.set(platform, { program: 'standalone', node, was_run: wasRun })
  }
  contents.set(`${prefix}_manifest.json`, Buffer.from(`${JSON.stringify(MANIFEST, null, 2)}\n`))
  const files = [...contents]
    .map(([name, bytes]) => ({ name, sha256: sha256(bytes) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const sums = `${prefix}_SHA256SUMS`
  contents.set(sums, Buffer.from(files.map((file) => `${file.sha256}  ${file.name}\n`).join('')))
  const known = Object.fromEntries([...programs].sort(([a], [b]) => (a < b ? -1 : 1)))
  contents.set(`${prefix}_platforms.json`, Buffer.from(`${JSON.stringify(known, null, 2)}\n`))
  makeFolder(folder)
  for (const [name, bytes] of contents) {
    // Renamed into place, so that a mirror that serves the folder never serves a partial file.
    const temporary = join(folder, `${name}.${process.pid}.tmp`)
    writeFileSync(temporary, bytes)
    renameSync(temporary, join(folder, name))
  }
  cpSync(docs, join(folder, 'docs'), { recursive: true })
  const listed = [...files, { name: sums, sha256: sha256(contents.get(sums) ?? Buffer.alloc(0)) }]
  if (signingKey === undefined) return listed
  const signature = sign(join(folder, sums), signingKey)
  return [...listed, { name: `${sums}.sig`, sha256: sha256(signature) }]
}

/** Writes the detached signature of `file` beside it, in the binary form of registries. */
function sign(file: string, key: string): Buffer {
  const output = `${file}.sig`
  const options = ['--batch', '--yes', '--local-user', key, '--output', output, '--detach-sign', file]
  const { status, stderr, error } = spawnSync('gpg', options, { encoding: 'utf8' })
  if (error !== undefined) throw new Error(`gpg could not be started (${error.message}): install GnuPG`)
  if (status !== 0) throw new Error(`gpg cannot sign with the key ${key}: ${stderr.trim()}`)
  return readFileSync(output)
}

/**
 * The version of an unreleased build, derived from the bytes of the executable, so that a lock file never has two
 * programs with the same version. It is a pre-release, which only an exact requirement selects.
 */
export function developmentVersion(version: string, executable: string): string {
  // The letter prevents a number with leading zeros, which versions must not contain.
  return `${version}-dev.h${sha256(readFileSync(executable)).slice(0, 12)}`
}
