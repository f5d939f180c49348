/** Caches code compiled by V8 for the next process of the provider. */
import { createHash } from 'node:crypto'
import {
  existsSync,
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
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'

/** Part of each digest, so that a file of another format counts as damaged. */
const FORMAT = 'lengths, function, kinds, code'
const DIGEST_BYTES = 32
/** Size of the fields for the lengths of the text and of the kinds (bytes). */
const LENGTH_BYTES = 4
/** Write permission for group and others. */
const OTHERS_WRITE = 0o022
/** Files of other versions are removed after this time (milliseconds). */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000

/** The source of a program, and its compiled code. */
interface Compiled {
  readonly text: string
  /** The kinds of work whose functions are compiled: V8 compiles a function when it is first called. */
  readonly kinds: readonly string[]
  readonly code: Buffer
}

/** Kinds of work that this process did. */
const kindsDone = new Set<string>()

/**
 * Records that this process does work of `kind`, such as a method. The first process that does it caches the code for
 * it.
 */
export function noteWork(kind: string): void {
  kindsDone.add(kind)
}

/**
 * Compiles the source that `unpack` returns: the body of a function with parameters `names`. `key` identifies the source, which
 * must not change. The source is cached as well, because unpacking it takes longer.
 *
 * V8 executes cached code without verification. Therefore files are read only from a folder that no other user can
 * write to, and only with a valid digest. Without such a folder, on Windows, or with NODE_DISABLE_COMPILE_CACHE, the
 * source is unpacked and compiled each time.
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
  // Cached in the form that the compiler takes, which saves a copy.
  const text = kept?.text ?? `(function (${names.join(', ')}) {${unpack()}\n})`
  const script = new Script(text, {
    filename,
    ...(kept === undefined ? {} : { cachedData: kept.code }),
  })
  const run = script.runInThisContext()
  if (file === undefined) return run
  const known = script.cachedDataRejected === true ? undefined : kept?.kinds
  // Written at exit, so that all executed functions are included.
  process.on('exit', () => {
    const kinds = [...new Set([...(known ?? []), ...kindsDone])]
    if (kinds.length === known?.length) return
    writeCache(file, { text, kinds, code: script.createCachedData() })
  })
  return run
}

/** The user's cache folder; `undefined` when there is none or another user can write to it. */
export function cacheFolder(environment: NodeJS.ProcessEnv): string | undefined {
  const uid = process.getuid?.()
  if (uid === undefined || environment.NODE_DISABLE_COMPILE_CACHE !== undefined) return undefined
  try {
    const folder = join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'pharos')
    makeFolders(folder)
    const facts = lstatSync(folder)
    return facts.isDirectory() && facts.uid === uid && (facts.mode & OTHERS_WRITE) === 0 ? folder : undefined
  } catch {
    return undefined
  }
}

/**
 * Creates `folder` and its missing parents, one by one: where nothing can be created, such as below /proc, a recursive
 * mkdirSync never returns.
 */
function makeFolders(folder: string): void {
  if (existsSync(folder)) return
  makeFolders(dirname(folder))
  mkdirSync(folder, { mode: 0o700 })
}

/** Reads `file`, written by `writeCache`; `undefined` when it is missing or damaged. */
export function readCache(file: string): Compiled | undefined {
  try {
    const bytes = readFileSync(file)
    const rest = bytes.subarray(DIGEST_BYTES)
    if (!digestOf(rest).equals(bytes.subarray(0, DIGEST_BYTES))) return undefined
    const textAt = 2 * LENGTH_BYTES
    const kindsAt = textAt + rest.readUInt32LE(0)
    const codeAt = kindsAt + rest.readUInt32LE(LENGTH_BYTES)
    return {
      text: rest.toString('utf8', textAt, kindsAt),
      kinds: rest.toString('utf8', kindsAt, codeAt).split('\n').filter(Boolean),
      code: rest.subarray(codeAt),
    }
  } catch {
    return undefined
  }
}

/** Writes a file atomically, and removes old files of its folder. Failures are ignored. */
export function writeCache(file: string, { text, kinds, code }: Compiled): void {
  const temporary = `${file}.${process.pid}.tmp`
  try {
    const names = kinds.join('\n')
    const lengths = Buffer.alloc(2 * LENGTH_BYTES)
    lengths.writeUInt32LE(Buffer.byteLength(text))
    lengths.writeUInt32LE(Buffer.byteLength(names), LENGTH_BYTES)
    const rest = Buffer.concat([lengths, Buffer.from(text), Buffer.from(names), code])
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
