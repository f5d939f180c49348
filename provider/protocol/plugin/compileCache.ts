/** Keeps what V8 compiled, so that the next process of the provider does not compile it again. */
import { createHash } from 'node:crypto'
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Script } from 'node:vm'

const DIGEST_BYTES = 32
/** Write permission of the group and of others. */
const OTHERS_WRITE = 0o022
/** Files of other versions are removed after this time (milliseconds). */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000

/**
 * Compiles `text`, the body of a function with parameters `names`. `key` names the text, which must not change under it.
 *
 * V8 runs what such a file has as it is. So files are read only from a folder that this user alone may write to, and only with
 * the digest that they begin with. Without such a folder, on Windows, or with NODE_DISABLE_COMPILE_CACHE, everything
 * is compiled anew.
 */
export function compileCached(
  text: string,
  options: { readonly names: readonly string[]; readonly key: string; readonly filename: string },
): (...values: readonly unknown[]) => unknown {
  const { names, key, filename } = options
  const folder = cacheFolder(process.env)
  const file =
    folder === undefined ? undefined : join(folder, `${key}-${process.versions.v8}-${process.arch}`)
  const cachedData = file === undefined ? undefined : readCache(file)
  const script = new Script(`(function (${names.join(', ')}) {${text}\n})`, {
    filename,
    ...(cachedData === undefined ? {} : { cachedData }),
  })
  const run = script.runInThisContext()
  if (file !== undefined && (cachedData === undefined || script.cachedDataRejected === true)) {
    // At the end, so that functions that ran are part of it.
    process.on('exit', () => writeCache(file, script.createCachedData()))
  }
  return run
}

/** The folder of the user for such files; `undefined` when there is none that others cannot write to. */
export function cacheFolder(environment: NodeJS.ProcessEnv): string | undefined {
  const uid = process.getuid?.()
  if (uid === undefined || environment.NODE_DISABLE_COMPILE_CACHE !== undefined) return undefined
  try {
    const folder = join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'pharos')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const facts = lstatSync(folder)
    return facts.isDirectory() && facts.uid === uid && (facts.mode & OTHERS_WRITE) === 0 ? folder : undefined
  } catch {
    return undefined
  }
}

/** What `writeCache` put into `file`; `undefined` when it is not there, or damaged. */
export function readCache(file: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file)
    const data = bytes.subarray(DIGEST_BYTES)
    return digestOf(data).equals(bytes.subarray(0, DIGEST_BYTES)) ? data : undefined
  } catch {
    return undefined
  }
}

/** Writes `data`, whole or not at all, and removes files of its folder that are old. A failure changes nothing. */
export function writeCache(file: string, data: Buffer): void {
  const temporary = `${file}.${process.pid}.tmp`
  try {
    writeFileSync(temporary, Buffer.concat([digestOf(data), data]), { mode: 0o600, flag: 'wx' })
    renameSync(temporary, file)
    const folder = join(file, '..')
    for (const name of readdirSync(folder)) {
      const other = join(folder, name)
      if (Date.now() - statSync(other).mtimeMs > KEPT_MS) rmSync(other)
    }
  } catch {
    rmSync(temporary, { force: true })
  }
}

function digestOf(data: Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}
