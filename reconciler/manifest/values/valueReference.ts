import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { BODY_BYTES_MAX, type SensitiveInput } from '../../../api/contract/service.ts'
import type { ProblemCode } from '../manifestProblem.ts'
import { isLfsPointer } from '../read/lfsPointer.ts'
import { decodeUtf8 } from '../read/utf8Text.ts'
import type { ValueForm } from '../schema/serviceManifest.ts'

/** The sources of the values to which manifests refer. */
export interface ValueSources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Names of variables that are set, but that the controller keeps from the manifests of this set. */
  readonly withheld?: ReadonlySet<string> | undefined
  /** The only folder from which secret files may be read. */
  readonly secretsDirectory: string
  /** Root of the set, which contains all files that are sent in clear. */
  readonly rootDirectory: string
  /** Reads files of a set that is in no folder; absent when `rootDirectory` is a folder. */
  readonly readSetFile?: ReadSetFile | undefined
  readonly allowInlineSecrets: boolean
  /** Whether an unresolved secret is a problem, or is replaced by UNRESOLVED. */
  readonly secrets: 'required' | 'optional'
}

/**
 * Reads the file at `path`, with forward slashes, below the root of a set: its bytes, or why there are none. A file of more
 * than `bytesMax` bytes is not read.
 */
export type ReadSetFile = (path: string, bytesMax: number) => Buffer | 'absent' | 'too-large'

/** A value ready to send, or the problem. */
export type ResolvedValue =
  | { readonly input: SensitiveInput }
  | { readonly code: ProblemCode; readonly message: string; readonly hint?: string }

/** The place of a reference: a body may come from a file of the set, a header may not. */
export interface ValueSite {
  readonly part: 'header' | 'body'
  /** Folder of the manifest below the set's root. */
  readonly directory: string
}

const NOT_UTF8 = 'which is not UTF-8: save it as UTF-8'
/** Replaces an unavailable secret when secrets are optional. */
export const UNRESOLVED = 'unresolved'

/**
 * Resolves `form` to its value. Values from the environment or the secrets folder are sensitive; a text and a file of the
 * set (`./payload.json`) are sent in clear. Messages never contain a value.
 */
export function resolveValue(form: ValueForm, site: ValueSite, sources: ValueSources): ResolvedValue {
  if (typeof form === 'string') return { input: { value: form } }
  if ('value' in form) return inlineValue(form, sources)
  if ('env' in form) return environmentValue(form, sources)
  if (form.file.startsWith('./') || form.file.startsWith('../')) return fileOfTheSet(form.file, site, sources)
  return secretFile(form, sources)
}

function inlineValue(
  form: { value: string; sensitive?: boolean | undefined },
  sources: ValueSources,
): ResolvedValue {
  if (form.sensitive !== true) return { input: { value: form.value } }
  if (sources.allowInlineSecrets) return { input: { value: form.value, sensitive: true } }
  return {
    code: 'E_INLINE_SECRET',
    message: 'must not contain a secret: every reader of the repository would see it',
    hint: 'refer to it as { env: NAME } or { file: /run/secrets/NAME }',
  }
}

interface SecretOptions {
  readonly prefix?: string | undefined
  readonly allowEmpty?: boolean | undefined
}

function environmentValue(form: { env: string } & SecretOptions, sources: ValueSources): ResolvedValue {
  // A manifest could otherwise send the credentials of Pharos to any host.
  if (form.env.toUpperCase().startsWith('PHAROS_')) {
    return {
      code: 'E_SECRET',
      message: `must not refer to ${form.env}: variables of Pharos are not available to manifests`,
      hint: 'put the secret into a variable with another name',
    }
  }
  const value = sources.env[form.env]
  if (value === undefined && sources.withheld?.has(form.env) === true) {
    return missing(
      `refers to the environment variable ${form.env}, which manifests of this set may not read`,
      'add it to "variables" of the set, unless it is a secret of the controller',
      sources,
    )
  }
  if (value === undefined) {
    return missing(
      `refers to the environment variable ${form.env}, which is not set`,
      `export ${form.env}`,
      sources,
    )
  }
  return secret(value, form, `the environment variable ${form.env}`)
}

function secretFile(form: { file: string } & SecretOptions, sources: ValueSources): ResolvedValue {
  const root = sources.secretsDirectory
  const path = isAbsolute(form.file) ? form.file : join(root, form.file)
  const outside = {
    code: 'E_SECRET',
    message: `refers to a file outside the secrets folder ${root}`,
    hint: 'move the secret there, or name its folder with --secrets-dir; a file of the repository starts with ./',
  } as const
  if (!isBelow(root, path)) return outside
  const bytes = readBytes(path)
  if (bytes === undefined) {
    return missing(`refers to the secret file ${path}, which cannot be read`, 'create it', sources)
  }
  // A symbolic link in the folder may lead out of it.
  if (!isBelow(realpathSync(root), realpathSync(path))) return outside
  const decoded = decodeUtf8(bytes)
  if (!('text' in decoded)) {
    return { code: 'E_SECRET', message: `refers to the secret file ${path}, ${NOT_UTF8}` }
  }
  // Editors and echo end a file with a line break that does not belong to the secret.
  return secret(decoded.text.replace(/\r?\n$/, ''), form, `the file ${path}`)
}

function secret(value: string, options: SecretOptions, source: string): ResolvedValue {
  if (value === '' && options.allowEmpty !== true) {
    return {
      code: 'E_SECRET',
      message: `refers to ${source}, which is empty`,
      hint: 'give it a value, or set allowEmpty: true',
    }
  }
  return { input: { value: `${options.prefix ?? ''}${value}`, sensitive: true } }
}

function missing(message: string, hint: string, sources: ValueSources): ResolvedValue {
  if (sources.secrets === 'optional') return { input: { value: UNRESOLVED, sensitive: true } }
  return { code: 'E_SECRET', message, hint }
}

function fileOfTheSet(file: string, site: ValueSite, sources: ValueSources): ResolvedValue {
  if (site.part === 'header') {
    return {
      code: 'E_SECRET',
      message: 'must not come from a file of the repository',
      hint: 'write the value here, or refer to a secret file by its absolute path',
    }
  }
  const root = sources.rootDirectory
  const path = join(root, site.directory, file)
  if (isAbsolute(file) || !isBelow(root, path)) {
    return {
      code: 'E_FILE',
      message: 'refers to a file outside the folder of the manifests',
      hint: 'put the file below that folder',
    }
  }
  const read = sources.readSetFile ?? fileBelow(root)
  const bytes = read(relative(root, path).split(sep).join('/'), BODY_BYTES_MAX)
  if (bytes === 'absent') {
    return {
      code: 'E_FILE',
      message: `refers to ${file}, which is not a readable regular file`,
      hint: 'correct the path, which is relative to the folder of this manifest',
    }
  }
  if (bytes === 'too-large') {
    return {
      code: 'E_LIMIT',
      message: `refers to ${file}, which has more than ${BODY_BYTES_MAX} bytes`,
      hint: 'make it smaller',
    }
  }
  if (isLfsPointer(bytes)) {
    return {
      code: 'E_FILE',
      message: `refers to ${file}, which is only a pointer of Git LFS`,
      hint: 'keep it out of Git LFS',
    }
  }
  const decoded = decodeUtf8(bytes)
  if ('text' in decoded) return { input: { value: decoded.text } }
  return { code: 'E_FILE', message: `refers to ${file}, ${NOT_UTF8}` }
}

/** Reads regular files below the folder `root`, and follows no link that leads out of it. */
function fileBelow(root: string): ReadSetFile {
  return (file, bytesMax) => {
    const path = join(root, file)
    const size = regularFileBytes(path)
    if (size === undefined || realpathSync(path) !== join(realpathSync(root), file)) return 'absent'
    return size > bytesMax ? 'too-large' : readFileSync(path)
  }
}

function isBelow(root: string, path: string): boolean {
  const rest = relative(root, path)
  return rest !== '' && rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest)
}

function regularFileBytes(path: string): number | undefined {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  return entry?.isFile() === true ? entry.size : undefined
}

/** The bytes of the regular file at `path`; reading another kind of file could block forever. */
function readBytes(path: string): Buffer | undefined {
  try {
    return statSync(path).isFile() ? readFileSync(path) : undefined
  } catch (error) {
    // The author of the manifest need not distinguish a missing file, a folder and missing permissions.
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}
