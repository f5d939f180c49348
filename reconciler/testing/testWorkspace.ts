import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type ProgramRun, runHere } from './programHere.ts'

/** A folder of manifests and a state beside it, and the program to run on them. It can be made afresh for each test. */
export class TestWorkspace {
  folder = ''
  statePath = ''
  /** What the program has of an environment: nothing else of ours. */
  env: Record<string, string> = {}

  /** Makes it, empty, for a program that talks to `url` with `apiKey`. */
  make({ url, apiKey }: { readonly url: string; readonly apiKey: string }): void {
    this.folder = mkdtempSync(join(tmpdir(), 'pharos-work-'))
    this.statePath = join(this.folder, 'pharos.db')
    this.env = { PATH: process.env.PATH ?? '', PHAROS_URL: url, PHAROS_API_KEY: apiKey }
    mkdirSync(join(this.folder, 'manifests'))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true })
  }

  /** Writes or, with null, removes manifest files. */
  write(files: Readonly<Record<string, string | null>>): void {
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.folder, 'manifests', name)
      mkdirSync(dirname(path), { recursive: true })
      if (text === null) rmSync(path)
      else writeFileSync(path, text)
    }
  }

  /** Runs `pharos COMMAND manifests --state … ARGS` in this process; a command may be of two words. */
  run(command: string, ...args: readonly string[]): Promise<ProgramRun> {
    const { folder: cwd, env, statePath } = this
    const whole = [...command.split(' '), join(cwd, 'manifests'), '--state', statePath, ...args]
    return runHere(whole, env, { cwd })
  }
}
