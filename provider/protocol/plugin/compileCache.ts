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

/** Part of each digest: a file of another format counts as damaged. */
const FORMAT = 'length, function, code'
const DIGEST_BYTES = 32
/** Of the length of the text, in bytes. */
const LENGTH_BYTES = 4
/** Write permission of the group and of others. */
const OTHERS_WRITE = 0o022
/** Files of other versions are removed after this time (milliseconds). */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000

/** A text of a program, and what V8 made of it. */
interface Compiled {
  readonly text: string
  readonly code: Buffer
}

/**
 * Compiles the text that `unpack` gives: the body of a function with parameters `names`. `key` names the text, which must not
 * change under it. The text is kept too, which is quicker than to unpack it.
 *
 * V8 runs what such a file has as it is. So files are read only from a folder that this user alone may write to, and only with
 * the digest that they begin with. Without such a folder, on Windows, or with NODE_DISABLE_COMPILE_CACHE, everything
 * is unpacked and compiled anew.
 */
export function compileCached(
  unpack: () => string,
  options: { readonly names: readonly string[]; readonly key: string; readonly filename: string },
): (...values: readonly unknown[]) => unknown {
  const { names, key, filename } = options
  const folder = cacheFolder(process.env)
  const file =
    folder === undefined ? undefined : join(folder, `${key}-${process.versions.v8}-${process.arch}`)
  const kept = file === undefined ? undefined : readCache(file)
  // Kept as it is compiled: to put it together again would be a copy.
  const text = kept?.text ?? `(function (${names.join(', ')}) {${unpack()}\n})`
  const script = new Script(text, {
    filename,
    ...(kept === undefined ? {} : { cachedData: kept.code }),
  })
  const run = script.runInThisContext()
  if (file !== undefined && (kept === undefined || script.cachedDataRejected === true)) {
    // At the end, so that functions that ran are part of it.
    process.on('exit', () => writeCache(file, { text, code: script.createCachedData() }))
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
export function readCache(file: string): Compiled | undefined {
  try {
    const bytes = readFileSync(file)
    const rest = bytes.subarray(DIGEST_BYTES)
    if (!digestOf(rest).equals(bytes.subarray(0, DIGEST_BYTES))) return undefined
    const codeAt = LENGTH_BYTES + rest.readUInt32LE(0)
    return { text: rest.toString('utf8', LENGTH_BYTES, codeAt), code: rest.subarray(codeAt) }
  } catch {
    return undefined
  }
}

/** Writes a file, whole or not at all, and removes files of its folder that are old. A failure changes nothing. */
export function writeCache(file: string, { text, code }: Compiled): void {
  const temporary = `${file}.${process.pid}.tmp`
  try {
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt32LE(Buffer.byteLength(text))
    const rest = Buffer.concat([length, Buffer.from(text), code])
    writeFileSync(temporary, Buffer.concat([digestOf(rest), rest]), { mode: 0o600, flag: 'wx' })
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
  return createHash('sha256').update(FORMAT).update(data).digest()
}
