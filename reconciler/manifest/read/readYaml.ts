import { loadAll, YAMLException } from 'js-yaml'
import { MANIFEST_DEPTH_MAX, REPEATED_KEYS_CHARS_MAX } from '../manifestLimits.ts'
import type { LineColumn, ManifestProblem } from '../manifestProblem.ts'
import { Positions } from './position.ts'
import { conflictIn, syntaxHint } from './syntaxHint.ts'
import { unclosedIn } from './unclosed.ts'

/** One file of a set: its name in messages, and its folder below the root of the set (`''` for the root). */
export interface ManifestFile {
  readonly file: string
  readonly directory: string
  readonly text: string
}

/**
 * One document of a file as plain data; `index` is its number in the file, from 0. A `faulty` document may be checked but
 * not used: the file repeats a key, and its intended value is unknown.
 */
export interface ManifestDocument {
  readonly source: ManifestFile
  readonly index: number
  readonly value: unknown
  readonly faulty: boolean
  /** Whether it stands for Defaults that could not be read; its value is empty. */
  readonly isHidden?: true
}

/**
 * The documents of a file without empty ones, and the problems that kept it from being read. Defaults in a file that
 * cannot be read would apply to other files: one hidden document stands for them.
 */
export interface ReadFile {
  readonly documents: readonly ManifestDocument[]
  readonly problems: readonly ManifestProblem[]
}

/** Called with the number of files read so far. */
export type OnFilesRead = (done: number, total: number) => void

/**
 * Parses the YAML of `source`. Aliases are refused, so that no document can grow beyond its text; a repeated key is a
 * problem, but the rest of the file is parsed. Pure.
 */
export function readYaml(source: ManifestFile): ReadFile {
  try {
    return { documents: documentsOf(source, false), problems: [] }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const isListed = error.reason === REPEATED_KEY && source.text.length <= REPEATED_KEYS_CHARS_MAX
    const repeated = isListed ? repeatedKeyProblems(source) : []
    if (repeated.length > 0) return afterRepeatedKeys(source, repeated)
    return unread(source, [syntaxProblem(source, error)])
  }
}

const DEFAULTS_KIND = /\bkind["']?\s*:\s*["']?Defaults?\b/i

/** Whether `text`, as YAML or JSON, may contain Defaults. Pure. */
export function mayContainDefaults(text: string): boolean {
  return DEFAULTS_KIND.test(text)
}

/** A file that cannot be read because of `problems`. Pure. */
export function unread(source: ManifestFile, problems: readonly ManifestProblem[]): ReadFile {
  // UTF-16 has a zero byte beside each letter.
  if (!mayContainDefaults(source.text.replaceAll('\0', ''))) return { documents: [], problems }
  return { documents: [hiddenDefaults(source)], problems }
}

/** Stands for Defaults that may be in a file whose text is not known. Pure. */
export function hiddenDefaults({ file, directory }: Omit<ManifestFile, 'text'>): ManifestDocument {
  const source = { file, directory, text: '' }
  return { source, index: 0, value: {}, faulty: true, isHidden: true }
}

const REPEATED_KEY = 'duplicated mapping key'

/** Maximum of files parsed at once, because the parser takes longer to start than to read a small file. */
const BATCH_FILES = 16
/** Document separators and directives for a whole file, which would have another meaning in a batch. */
const NOT_FOR_A_BATCH = /^\uFEFF|^(?:---|\.\.\.|%)|[\n\r](?:---|\.\.\.|%)/

/** Equals `readYaml` for each of `sources`, but is faster. Pure. */
export function readYamlFiles(
  sources: readonly ManifestFile[],
  onProgress?: OnFilesRead,
): readonly ReadFile[] {
  const read: ReadFile[] = []
  for (let from = 0; from < sources.length; ) {
    const batch = batchAt(sources, from)
    from += batch.length
    onProgress?.(from, sources.length)
    for (const one of readBatch(batch) ?? batch.map(readYaml)) read.push(one)
  }
  return read
}

/** The next of `sources` from index `from` that may be parsed at once; at least one. */
function batchAt(sources: readonly ManifestFile[], from: number): readonly ManifestFile[] {
  const candidates = sources.slice(from, from + BATCH_FILES)
  const isFit = ({ text }: ManifestFile): boolean => text.endsWith('\n') && !NOT_FOR_A_BATCH.test(text)
  const unfit = candidates.findIndex((source) => !isFit(source))
  return unfit < 0 ? candidates : candidates.slice(0, Math.max(1, unfit))
}

/** The files of `batch`, one document each; `undefined` when one has a problem, which needs each file to be read alone. */
function readBatch(batch: readonly ManifestFile[]): readonly ReadFile[] | undefined {
  if (batch.length < 2) return undefined
  try {
    const values = loadAll(batch.map(({ text }) => text).join('---\n'), {
      maxAliases: 0,
      maxDepth: MANIFEST_DEPTH_MAX,
    })
    if (values.length !== batch.length) return undefined
    return batch.map((source, index) => {
      const value = values[index]
      return { documents: value === null ? [] : [{ source, index: 0, value, faulty: false }], problems: [] }
    })
  } catch (error) {
    if (error instanceof YAMLException) return undefined
    throw error
  }
}

function afterRepeatedKeys(source: ManifestFile, problems: readonly ManifestProblem[]): ReadFile {
  try {
    return { documents: documentsOf(source, true), problems }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return unread(source, [...problems, syntaxProblem(source, error)])
  }
}

/** With `json`, js-yaml uses the last of repeated keys instead of throwing. */
function documentsOf(source: ManifestFile, json: boolean): readonly ManifestDocument[] {
  const values = loadAll(source.text, {
    filename: source.file,
    maxAliases: 0,
    maxDepth: MANIFEST_DEPTH_MAX,
    json,
  })
  return values.flatMap((value, index) => (value === null ? [] : [{ source, index, value, faulty: json }]))
}

/** Maximum of repeated keys listed for one file. */
const REPEATED_KEYS_MAX = 100

function repeatedKeyProblems(source: ManifestFile): readonly ManifestProblem[] {
  const repeated = new Positions(source.text).repeatedKeys()
  const left = repeated.length - REPEATED_KEYS_MAX
  return repeated.slice(0, REPEATED_KEYS_MAX).map(({ key, at }, index) => ({
    code: 'E_DUP_FIELD',
    file: source.file,
    ...at,
    message: `${key} is already set in this mapping`,
    hint:
      left > 0 && index === REPEATED_KEYS_MAX - 1
        ? `as are ${left} more in this file`
        : 'keep one of the two',
  }))
}

/** Messages of the parser in the terms of manifests. */
const PLAIN_REASONS: Readonly<Record<string, string>> = {
  'missed comma between flow collection entries': 'a comma is missing between two items',
  'the stream contains non-printable characters': 'the file contains a control character',
  'end of the stream or a document separator is expected': 'there is content after the end of the document',
  'deficient indentation': 'this line is not indented far enough',
  'object-based map does not support complex keys': 'a mapping or a list is used as the name of a field',
  'can not read a block mapping entry; a multiline key may not be an implicit key':
    'the name of a field spans several lines, or has no colon',
}

function syntaxProblem(source: ManifestFile, error: YAMLException): ManifestProblem {
  const line = (error.mark?.line ?? 0) + 1
  const column = (error.mark?.column ?? 0) + 1
  const place = { file: source.file, line, column }
  if (error.reason.startsWith('aliases exceeded')) {
    return {
      code: 'E_ALIAS',
      ...place,
      // The mark is after the asterisk.
      column: Math.max(1, column - 1),
      message: 'aliases are not supported',
      hint: 'share values with a kind: Defaults document',
    }
  }
  if (error.reason === REPEATED_KEY) {
    return {
      code: 'E_DUP_FIELD',
      ...place,
      message: 'the field is already set in this mapping',
      hint: 'keep one of the two',
    }
  }
  if (error.reason.startsWith('nesting exceeded')) {
    const message = `nesting is deeper than ${MANIFEST_DEPTH_MAX} levels`
    return { code: 'E_LIMIT', ...place, message, hint: 'look for a wrong bracket or indentation' }
  }
  return { code: 'E_YAML', ...place, ...brokenSyntax(source.text, error) }
}

/** The syntax error of `text`, at its cause rather than where the parser stopped, if the cause is known. Pure. */
export function brokenSyntax(
  text: string,
  error: YAMLException,
): Pick<ManifestProblem, 'message' | 'hint'> & Partial<LineColumn> {
  const conflict = conflictIn(text)
  if (conflict !== undefined) {
    const hint = 'choose between what follows <<<<<<< and what follows ======='
    return { ...conflict, message: 'this is an unresolved git conflict', hint }
  }
  const unclosed = unclosedIn(text, error)
  if (unclosed !== undefined) {
    const { opener, closer, line, column } = unclosed
    const { position = text.length, line: stop = 0 } = error.mark ?? {}
    if (text.startsWith(closer, position)) {
      const message = `the ${closer} that closes this ${opener} is not indented`
      return { line, column, message, hint: `indent line ${stop + 1} more than the key of this ${opener}` }
    }
    const message = `this ${opener} is not closed`
    const hint = `close it with ${closer}, and indent its content`
    return { line, column, message, hint }
  }
  const hint = syntaxHint(text, error)
  // The parser does not report the position of such a key.
  const complexKey = error.reason.includes('complex key') ? complexKeyOf(text) : undefined
  return {
    ...complexKey,
    message: PLAIN_REASONS[error.reason] ?? error.reason,
    ...(hint === undefined ? {} : { hint }),
  }
}

function complexKeyOf(text: string): LineColumn | undefined {
  try {
    return new Positions(text).complexKey()
  } catch (error) {
    if (error instanceof YAMLException) return undefined
    throw error
  }
}
