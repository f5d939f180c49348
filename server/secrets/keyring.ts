import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { KEY_BYTES, type MasterKey, masterKeyOf } from '../domain/seal.ts'
import { makeKeyFile, replaceKeyFile, unwritable } from './keyFile.ts'

/** Source of master keys: a file beside the data folder, or the text of a variable. */
export type KeySource =
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'text'; readonly text: string }

const KEY_LINE = new RegExp(`^[0-9a-f]{${KEY_BYTES * 2}}$`, 'i')
/** Permission bits for the group and others. */
const OTHERS_MODE = 0o077
/** Read permission for the group. */
const GROUP_READS_MODE = 0o040

/** The default file of the master key: beside the data folder, never in it. Pure. */
export function defaultKeyFile(dataDir: string): string {
  return `${resolve(dataDir)}.master-key`
}

/**
 * The keys of `source`, in order. Throws, without quoting the contents, when others can read the file, when it is in
 * the data folder, or when it contains anything other than keys of 64 hexadecimal digits, one per line.
 */
export function readKeys(source: KeySource, dataDir: string | null): readonly MasterKey[] {
  if (source.kind === 'text') return parseKeys(source.text, 'PHAROS_MASTER_KEY')
  assertOutside(source.file, dataDir)
  if (isExposed(statSync(source.file), process.geteuid?.())) {
    throw new Error(`${source.file} can be read by others: run "chmod 600 ${source.file}"`)
  }
  return parseKeys(readFileSync(source.file, 'utf8'), source.file)
}

/**
 * Whether users other than the server's can read or change `file`. Orchestrators mount secrets as files of root that
 * the server's group can read. That alone is no exposure, unless the server's user `uid` is root. Pure.
 */
export function isExposed(
  file: { readonly mode: number; readonly uid: number },
  uid: number | undefined,
): boolean {
  const allowed = file.uid === 0 && uid !== 0 ? GROUP_READS_MODE : 0
  return (file.mode & OTHERS_MODE & ~allowed) !== 0
}

/** Whether the file of `source` exists; always true for text. */
export function hasKeys(source: KeySource): boolean {
  return source.kind === 'text' || existsSync(source.file)
}

/**
 * Throws when the keys of `source` can be neither read nor created: a missing file needs a writable folder. The data
 * folder may not exist yet, nor the parent folder of the default file.
 */
export function assertKeysUsable(source: KeySource, dataDir: string | null): void {
  if (hasKeys(source)) {
    readKeys(source, dataDir)
    return
  }
  if (source.kind === 'text') return
  assertOutside(source.file, dataDir)
  const folder = dirname(resolve(source.file))
  // The default file is created with the data folder.
  if (dataDir !== null && folder === dirname(resolve(dataDir)) && !existsSync(folder)) return
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw unwritable(source.file, error)
  }
}

/** Creates `file` with only `key`, unless it exists by now: another server may have created it with its own key. */
export function makeKey(file: string, key: MasterKey, dataDir: string | null): void {
  assertOutside(file, dataDir)
  makeKeyFile(file, keyText([key]))
}

/** Replaces the contents of `file` with `keys`, completely or not at all, and keeps its owner. */
export function replaceKeys(file: string, keys: readonly MasterKey[], dataDir: string | null): void {
  assertOutside(file, dataDir)
  replaceKeyFile(file, keyText(keys))
}

function keyText(keys: readonly MasterKey[]): string {
  return keys.map(({ bytes }) => `${bytes.toString('hex')}\n`).join('')
}

function parseKeys(text: string, where: string): readonly MasterKey[] {
  const lines = text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (lines.length === 0 || !lines.every((line) => KEY_LINE.test(line))) {
    throw new Error(`${where} must contain master keys of ${KEY_BYTES * 2} hexadecimal digits, one per line`)
  }
  return lines.map((line) => masterKeyOf(Buffer.from(line, 'hex')))
}

/** Throws when `file` is in `dataDir`, which is `null` when the data is in a database elsewhere. */
function assertOutside(file: string, dataDir: string | null): void {
  if (dataDir === null) return
  const path = relative(realPath(dataDir), realPath(file))
  if (path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) return
  throw new Error(
    `${file} is in the data folder, so a copy of the data would include its own key: name a file outside it`,
  )
}

/** `path` without symbolic links, as far as it exists, because a link must not hide the location of a key. */
function realPath(path: string): string {
  const whole = resolve(path)
  if (existsSync(whole)) return realpathSync(whole)
  const parent = dirname(whole)
  return parent === whole ? whole : join(realPath(parent), basename(whole))
}
