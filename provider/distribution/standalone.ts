import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { elfPlatform, elfWithProgram } from './elfNote.ts'
import { machoPlatform, machoWithProgram } from './machoSection.ts'
import { pePlatform, peWithProgram } from './peResource.ts'

/** A program that includes Node, and its platform. */
export interface StandaloneProgram {
  readonly platform: string
  readonly bytes: Buffer
}

interface Format {
  /** Terraform's name of the platform of an executable in this format; `undefined` for other formats. */
  platform(executable: Buffer): string | undefined
  withProgram(node: Buffer, blob: Buffer): Buffer
}

const FORMATS: readonly Format[] = [
  { platform: elfPlatform, withProgram: elfWithProgram },
  { platform: machoPlatform, withProgram: machoWithProgram },
  { platform: pePlatform, withProgram: peWithProgram },
]

/**
 * Combines the script `executable` with each Node in `nodes` (path by platform) into programs that include Node. They
 * are created one at a time, because each has about 100 MB.
 *
 * Throws an Error with a message for the user for a Node of another platform or version, because the blob depends on the version.
 */
export function* standalonePrograms(
  executable: string,
  nodes: ReadonlyMap<string, string>,
): Iterable<StandaloneProgram> {
  if (nodes.size === 0) return
  const blob = programBlob(executable)
  for (const [platform, path] of nodes) yield { platform, bytes: standaloneProgram(platform, path, blob) }
}

/** Calls `use` with a temporary file that contains the program for this machine, with the running Node. */
export function withStandaloneProgram<Result>(
  executable: string,
  platform: string,
  use: (file: string) => Result,
): Result {
  return withFolder((folder) => {
    const file = join(folder, 'program')
    const bytes = standaloneProgram(platform, process.execPath, programBlob(executable))
    writeFileSync(file, bytes, { mode: 0o755 })
    return use(file)
  })
}

/** Calls `use` with a temporary folder. */
function withFolder<Result>(use: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-standalone-'))
  try {
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The blob that Node runs from its own executable. */
function programBlob(executable: string): Buffer {
  return withFolder((folder) => {
    const [config, output] = [join(folder, 'sea.json'), join(folder, 'program.blob')]
    writeFileSync(config, JSON.stringify({ main: executable, output, disableExperimentalSEAWarning: true }))
    execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: 'pipe' })
    return readFileSync(output)
  })
}

function standaloneProgram(platform: string, path: string, blob: Buffer): Buffer {
  const node = readFileSync(path)
  const format = FORMATS.find((candidate) => candidate.platform(node) !== undefined)
  if (format === undefined) {
    throw new Error(`${path} is not an executable of Linux, macOS or Windows on amd64 or arm64`)
  }
  const found = format.platform(node)
  if (found !== platform) {
    throw new Error(`${path} is for ${found}, and cannot become a program for ${platform}`)
  }
  if (!node.includes(`${process.version}\0`)) {
    throw new Error(
      `${path} is not Node ${process.version}, the version that runs this command: both must be the same`,
    )
  }
  try {
    return format.withProgram(node, blob)
  } catch (error) {
    throw new Error(`${path} cannot take a program: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}

/**
 * Starts `program`, which must be for this machine, without Node on its PATH. Throws an Error unless it prints the
 * provider's explanation.
 */
export function tryProgram({ platform, bytes }: StandaloneProgram): void {
  withFolder((folder) => {
    const file = join(folder, platform.startsWith('windows') ? 'program.exe' : 'program')
    writeFileSync(file, bytes, { mode: 0o755 })
    const { stderr, error } = spawnSync(file, {
      // Windows cannot start a program without the system folder.
      env: { PATH: folder, SystemRoot: process.env.SystemRoot },
      encoding: 'utf8',
    })
    if (stderr?.includes('required_providers')) return
    throw new Error(`the program for ${platform} does not run: ${error?.message ?? stderr}`)
  })
}
