import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withProgram } from './elfNote.ts'

/**
 * The script `executable` together with the Node that runs this process, as one program for this platform, whose
 * machines need no Node. Throws a sentence for the user on systems other than Linux, whose executables have
 * another form and, on macOS, have to be signed.
 */
export function standaloneProgram(executable: string): Buffer {
  if (process.platform !== 'linux') {
    throw new Error(`a program that needs no Node is made on Linux only, not on ${process.platform}`)
  }
  const folder = mkdtempSync(join(tmpdir(), 'pharos-standalone-'))
  try {
    const [config, output] = [join(folder, 'sea.json'), join(folder, 'program.blob')]
    writeFileSync(config, JSON.stringify({ main: executable, output, disableExperimentalSEAWarning: true }))
    execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: 'pipe' })
    return withProgram(readFileSync(process.execPath), readFileSync(output))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
