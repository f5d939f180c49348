import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { elfMachine, withProgram } from './elfNote.ts'

/** A program whose machines need no Node, and the platform that it is for. */
export interface StandaloneProgram {
  readonly platform: string
  readonly bytes: Buffer
}

/**
 * The script `executable` together with each Node of `nodes`, a path by platform, as one program that needs no Node.
 *
 * Throws a sentence for the user on systems other than Linux, and for a Node of another platform or version: executables of
 * other systems have another form and, on macOS, have to be signed; and a Node reads what the same version packed.
 */
export function standalonePrograms(
  executable: string,
  nodes: ReadonlyMap<string, string>,
): readonly StandaloneProgram[] {
  if (process.platform !== 'linux') {
    throw new Error(`a program that needs no Node is made on Linux only, not on ${process.platform}`)
  }
  const blob = programBlob(executable)
  return [...nodes].map(([platform, path]) => ({
    platform,
    bytes: withProgram(checkedNode(platform, path), blob),
  }))
}

/** What Node runs when it finds it in its own executable. */
function programBlob(executable: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-standalone-'))
  try {
    const [config, output] = [join(folder, 'sea.json'), join(folder, 'program.blob')]
    writeFileSync(config, JSON.stringify({ main: executable, output, disableExperimentalSEAWarning: true }))
    execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: 'pipe' })
    return readFileSync(output)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function checkedNode(platform: string, path: string): Buffer {
  const node = readFileSync(path)
  const machine = elfMachine(node)
  if (machine === undefined || platform !== `linux_${machine}`) {
    const found = machine === undefined ? 'no program of Linux on amd64 or arm64' : `for linux_${machine}`
    throw new Error(`${path} is ${found}, and cannot become a program for ${platform}`)
  }
  if (!node.includes(`${process.version}\0`)) {
    throw new Error(
      `${path} is not Node ${process.version}, which runs this command: a program has one version`,
    )
  }
  return node
}

/**
 * Starts `program`, which has to be for this machine, without Node on its PATH. Throws an Error when it is not the provider, which
 * says how it is started.
 */
export function tryProgram({ platform, bytes }: StandaloneProgram): void {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-standalone-'))
  try {
    const file = join(folder, 'program')
    writeFileSync(file, bytes, { mode: 0o755 })
    const { stderr, error } = spawnSync(file, { env: { PATH: folder }, encoding: 'utf8' })
    if (stderr?.includes('required_providers')) return
    throw new Error(`the program for ${platform} does not run: ${error?.message ?? stderr}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
