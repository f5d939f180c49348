import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MIGRATIONS } from '../../store/postgres/schema/migrations.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const STEPS_FILE = 'server/store/postgres/schema/migrations.ts'
/** Maximum size of a commit's archive (bytes). */
const ARCHIVE_BYTES_MAX = 256 * 1_024 * 1_024

/** The program of the newest commit with an older schema, in a temporary folder. */
export interface EarlierServer {
  /** File of the program. */
  readonly program: string
  /** Number of migration steps of its schema. */
  readonly steps: number
  readonly remove: () => void
}

/** The reason why no earlier server can be built, which is a checkout without commit history; `null` when one can. */
export function reasonWithoutHistory(): string | null {
  try {
    if (git('rev-parse', '--is-shallow-repository').toString().trim() === 'true')
      return 'the clone is shallow'
    return null
  } catch {
    return 'this is not a git checkout'
  }
}

/** Builds the earlier server with the packages that are installed here. Throws when no commit has an older schema. */
export async function buildEarlierServer(): Promise<EarlierServer> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-earlier-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    const { commit, steps } = await newestEarlier(folder)
    extract(commit, folder)
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    const builder = pathToFileURL(join(folder, 'scripts/build.mjs')).href
    const script = `import(${JSON.stringify(builder)}).then((it) => it.buildPrograms((out) => out.startsWith('pharos-server')))`
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' })
    return { program: join(folder, 'dist/pharos-server.js'), steps, remove }
  } catch (error) {
    remove()
    throw error
  }
}

async function newestEarlier(folder: string): Promise<{ readonly commit: string; readonly steps: number }> {
  const changes = git('log', '--format=%H', '--', STEPS_FILE).toString().split('\n').filter(Boolean)
  // The first commit matters while a new step is not committed yet.
  const commits = ['HEAD', ...changes.map((change) => `${change}^`)]
  for (const [index, commit] of commits.entries()) {
    const sources = join(folder, `steps-${index}`)
    mkdirSync(sources)
    extract(commit, sources, 'server/store')
    const loaded: unknown = await import(/* @vite-ignore */ pathToFileURL(join(sources, STEPS_FILE)).href)
    const steps = stepsOf(loaded)
    if (steps < MIGRATIONS.length) return { commit, steps }
  }
  throw new Error(`no commit has fewer than the ${MIGRATIONS.length} steps of ${STEPS_FILE}`)
}

/** Writes the files of a commit below `paths` into `folder`. */
function extract(commit: string, folder: string, ...paths: readonly string[]): void {
  const archive = join(folder, 'archive.tar')
  writeFileSync(archive, git('archive', commit, ...paths))
  execFileSync('tar', ['-xf', archive, '-C', folder])
}

function stepsOf(loaded: unknown): number {
  const isModule = typeof loaded === 'object' && loaded !== null && 'MIGRATIONS' in loaded
  if (isModule && Array.isArray(loaded.MIGRATIONS)) return loaded.MIGRATIONS.length
  throw new Error(`${STEPS_FILE} has no MIGRATIONS in an earlier commit`)
}

function git(...args: readonly string[]): Buffer {
  return execFileSync('git', ['-C', ROOT, ...args], { stdio: 'pipe', maxBuffer: ARCHIVE_BYTES_MAX })
}
