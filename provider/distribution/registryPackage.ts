import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { makeFolder } from '../../api/runtime/makeFolder.ts'
import { programName, scriptName } from './mirror.ts'
import type { StandaloneProgram } from './standalone.ts'

/** Platforms on which Node runs and Terraform starts a script, as Terraform names them. */
export const SCRIPT_PLATFORMS = [
  'darwin_amd64',
  'darwin_arm64',
  'freebsd_amd64',
  'linux_amd64',
  'linux_arm',
  'linux_arm64',
] as const

/** A program that needs no Node, and what is known of it. */
export interface PackagedProgram extends StandaloneProgram {
  /** The version of its Node, such as `v22.12.0`. */
  readonly node: string
  /** Whether it was started, on the machine that built it. */
  readonly wasRun: boolean
}

/** What a registry has to know of the provider: which protocol it speaks. */
const MANIFEST = { version: 1, metadata: { protocol_versions: ['6.0'] } }

export interface PackageOptions {
  /** The provider's executable: a script that Node runs. */
  readonly executable: string
  /** Folder in which the files are written; made when it is not there. */
  readonly folder: string
  readonly version: string
  readonly platforms: readonly string[]
  /** Folder with the reference of the provider, which becomes `docs/`: registries read it from the repository of a release. */
  readonly docs: string
  /** Key of GnuPG that signs the checksums; they are not signed when it is absent. */
  readonly signingKey?: string | undefined
  /** Programs that need no Node, which the zips of their platforms have in place of the script. */
  readonly standalone?: Iterable<PackagedProgram>
}

/** A file of a release. */
export interface ReleaseFile {
  readonly name: string
  /** SHA-256 in hexadecimal: the `zh` of Terraform's lock file where the file is a zip. */
  readonly sha256: string
}

/** The system that gives the attributes of an archive's file a meaning: Unix. */
const UNIX = 3
/** A regular file with the permissions 0755, in the half of the attributes that Unix reads. */
const EXECUTABLE = (0o100755 << 16) >>> 0
/** The earliest time that an archive knows, in local time as it has it: its bytes follow from its files alone. */
const EARLIEST = new Date(1980, 0, 1)

/** The fastest compression: the usual one takes twice the time for a Node of 100 MB and saves a twentieth of the size. */
const LEVEL = 1

/** A zip archive with the executable file `name`. Pure: the same bytes give the same archive. */
function zipOf(name: string, bytes: Buffer): Buffer {
  return Buffer.from(
    zipSync({ [name]: [bytes, { os: UNIX, attrs: EXECUTABLE, mtime: EARLIEST, level: LEVEL }] }),
  )
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/**
 * Writes the files that a registry needs: a zip for each platform, the manifest, the checksums of both with their signature, and the
 * reference; and, for people, `…_platforms.json`, which says what each zip contains and whether that was started. Returns the
 * files that registries take in the order of their names, without the reference. The same executable and version give the
 * same bytes, but for the signature. Throws a sentence for the user when GnuPG refuses to sign.
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
    // Renamed into place: a mirror that serves the folder never has half a file.
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

/** Writes the detached signature of `file` beside it, in the binary form that registries take. */
function sign(file: string, key: string): Buffer {
  const output = `${file}.sig`
  const options = ['--batch', '--yes', '--local-user', key, '--output', output, '--detach-sign', file]
  const { status, stderr, error } = spawnSync('gpg', options, { encoding: 'utf8' })
  if (error !== undefined) throw new Error(`gpg could not be started (${error.message}): install GnuPG`)
  if (status !== 0) throw new Error(`gpg does not sign with the key ${key}: ${stderr.trim()}`)
  return readFileSync(output)
}

/**
 * A version for a build that is not released: it changes with the executable's bytes and with nothing else, so that a
 * lock file never meets other bytes under a version that it knows. A pre-release, which only an exact requirement takes.
 */
export function developmentVersion(version: string, executable: string): string {
  // The letter keeps a hash of digits alone from being a number with leading zeros, which versions do not have.
  return `${version}-dev.h${sha256(readFileSync(executable)).slice(0, 12)}`
}
