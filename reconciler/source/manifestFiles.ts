import {
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { FILE_BYTES_MAX, SET_BYTES_MAX, SET_DOCUMENTS_MAX } from '../manifest/manifestLimits.ts'
import type { LineColumn, ManifestProblem } from '../manifest/manifestProblem.ts'
import { isLfsPointer } from '../manifest/read/lfsPointer.ts'
import {
  hiddenDefaults,
  type ManifestDocument,
  type ManifestFile,
  type OnFilesRead,
  type ReadFile,
  readYaml,
  readYamlFiles,
  unread,
} from '../manifest/read/readYaml.ts'
import { decodeUtf8 } from '../manifest/read/utf8Text.ts'
import { isManifestFile } from '../plan/sourceName.ts'
import {
  IGNORE_FILE,
  type IgnoreRules,
  type Ignores,
  NOTHING_IGNORED,
  readIgnoreRules,
} from './ignoreFile.ts'

/** The manifests below a path. */
export interface ManifestSource {
  /** Whether there is anything at the path at all. */
  readonly exists: boolean
  readonly rootDirectory: string
  readonly files: number
  readonly documents: readonly ManifestDocument[]
  readonly problems: readonly ManifestProblem[]
}

/**
 * Reads every `.yaml` and `.yml` below `path`, or `path` itself when it is a file. Names that start with a dot and ignored files
 * are left out. Symbolic links are refused, because they could lead out of the folder, and so are special files, because reading
 * a pipe could block.
 */
export function readManifests(path: string, onProgress?: OnFilesRead): ManifestSource {
  const entry = statSync(path, { throwIfNoEntry: false })
  if (entry === undefined) {
    return { exists: false, rootDirectory: path, files: 0, documents: [], problems: [] }
  }
  if (!entry.isDirectory()) {
    const found = [{ path, directory: '', kind: kindOf(entry) }]
    return { exists: true, rootDirectory: dirname(path), ...readFiles(found, onProgress) }
  }
  const { ignores, problems } = ignoreRulesOf(path)
  // Without its rules, manifests that were left out on purpose would be applied.
  if (problems.length > 0) return { exists: true, rootDirectory: path, files: 0, documents: [], problems }
  const unlisted: ManifestProblem[] = []
  const found = listed(path, '', ignores, unlisted)
  const read = readFiles(found, onProgress)
  return { exists: true, rootDirectory: path, ...read, problems: [...unlisted, ...read.problems] }
}

function ignoreRulesOf(root: string): IgnoreRules {
  const file = join(root, IGNORE_FILE)
  const entry = lstatSync(file, { throwIfNoEntry: false })
  if (entry === undefined) return NOTHING_IGNORED
  const bytes = refusalOf({ path: file, directory: '', kind: kindOf(entry) }) ?? beginningOf(file)
  return Buffer.isBuffer(bytes) ? readIgnoreRules(bytes, file) : { ...NOTHING_IGNORED, problems: [bytes] }
}

interface Found {
  readonly path: string
  /** Folder below the root, with forward slashes. */
  readonly directory: string
  readonly kind: 'file' | 'link' | 'special'
}

function kindOf(entry: Dirent | Stats): Found['kind'] {
  if (entry.isSymbolicLink()) return 'link'
  return entry.isFile() ? 'file' : 'special'
}

function listed(
  folder: string,
  directory: string,
  ignores: Ignores,
  problems: ManifestProblem[],
): readonly Found[] {
  return entriesOf(folder, problems).flatMap((entry): readonly Found[] => {
    const { name } = entry
    if (name.startsWith('.')) return []
    const path = join(folder, name)
    const below = directory === '' ? name : `${directory}/${name}`
    const isFolder = entry.isDirectory()
    if (!isFolder && !isManifestFile(name) && !mayBeFolder(entry, path)) return []
    if (ignores(below, isFolder)) return []
    return isFolder ? listed(path, below, ignores, problems) : [{ path, directory, kind: kindOf(entry) }]
  })
}

/** Whether a link may point to a folder of manifests: skipping it silently would lose all of them. */
function mayBeFolder(entry: Dirent, path: string): boolean {
  if (!entry.isSymbolicLink()) return false
  // A link without an extension counts as one, as in a commit, where its target is unknown.
  if (!entry.name.includes('.')) return true
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    // The link is circular, or its target is not accessible.
    return true
  }
}

function entriesOf(folder: string, problems: ManifestProblem[]): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    problems.push(unreadable(folder, error))
    return []
  }
}

function readFiles(
  found: readonly Found[],
  onProgress: OnFilesRead | undefined,
): Pick<ManifestSource, 'files' | 'documents' | 'problems'> {
  const documents: ManifestDocument[] = []
  const problems: ManifestProblem[] = []
  const sources: ManifestFile[] = []
  let bytes = 0
  const leaveOut = (one: Found, problem: ManifestProblem): void => {
    const isManifest = isManifestFile(one.path)
    problems.push(isManifest ? unseen(problem) : problem)
    if (isManifest) documents.push(hiddenDefaults({ file: one.path, directory: one.directory }))
  }
  for (const one of found) {
    const read = refusalOf(one) ?? beginningOf(one.path)
    if (!Buffer.isBuffer(read)) leaveOut(one, read)
    else if (bytes + read.length > SET_BYTES_MAX) leaveOut(one, setLimit(one.path))
    else {
      bytes += read.length
      const source = sourceOf({ file: one.path, directory: one.directory }, read)
      if ('text' in source) sources.push(source)
      else {
        problems.push(...source.problems)
        documents.push(...source.documents)
      }
    }
  }
  for (const read of readYamlFiles(sources, onProgress)) {
    // Not push(...): a file may have more documents than a call may have arguments.
    for (const document of read.documents) documents.push(document)
    for (const problem of read.problems) problems.push(problem)
  }
  const [first] = found
  if (documents.length > SET_DOCUMENTS_MAX && first !== undefined) {
    problems.push(limitProblem(dirname(first.path), `the set has more than ${SET_DOCUMENTS_MAX} documents`))
    return { files: found.length, documents: [], problems }
  }
  return { files: found.length, documents, problems }
}

/** Reused for all files; one byte larger than the limit, to detect larger files. */
const beginning = Buffer.allocUnsafeSlow(FILE_BYTES_MAX + 1)

/** The content of the file at `path`, valid until the next call, or its problem. Reads at most one byte beyond the limit. */
function beginningOf(path: string): Buffer | ManifestProblem {
  try {
    // Opening must not block if the file was just replaced by a pipe.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      let length = 0
      for (let read = -1; read !== 0 && length < beginning.length; length += read) {
        read = readSync(file, beginning, length, beginning.length - length, null)
      }
      if (length > FILE_BYTES_MAX) return limitProblem(path, `the file has more than ${FILE_BYTES_MAX} bytes`)
      return beginning.subarray(0, length)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    return unreadable(path, error)
  }
}

function unreadable(path: string, error: unknown): ManifestProblem {
  if (!(error instanceof Error && 'code' in error)) throw error
  // Node replaces the bytes of a name that are not UTF-8, so that no file has the name.
  if (error.code === 'ENOENT' && path.includes('\uFFFD')) return badNameProblem(path)
  return fileProblem(
    path,
    `${basename(path)} cannot be read (${String(error.code)})`,
    'check its permissions',
  )
}

/** Parses `bytes`, the content of a manifest file. Pure. */
export function readBytes(
  { file, directory }: Pick<ManifestFile, 'file' | 'directory'>,
  bytes: Buffer,
): ReadFile {
  const source = sourceOf({ file, directory }, bytes)
  return 'text' in source ? readYaml(source) : source
}

/** The file with its text, or why it has none. */
function sourceOf(
  { file, directory }: Pick<ManifestFile, 'file' | 'directory'>,
  bytes: Buffer,
): ManifestFile | ReadFile {
  if (isLfsPointer(bytes)) {
    const hint = 'keep manifests out of Git LFS'
    const problem = unseen(fileProblem(file, 'this is only a pointer of Git LFS', hint))
    return { documents: [hiddenDefaults({ file, directory })], problems: [problem] }
  }
  const decoded = decodeUtf8(bytes)
  if ('text' in decoded) return { file, directory, text: decoded.text }
  return unread({ file, directory, text: bytes.toString('latin1') }, [notUtf8(file, decoded.badAt)])
}

function notUtf8(file: string, badAt: LineColumn): ManifestProblem {
  return { code: 'E_FILE', file, ...badAt, message: 'not UTF-8', hint: 'save the file as UTF-8' }
}

function refusalOf(found: Found): ManifestProblem | undefined {
  if (found.kind === 'link') {
    const message = `${basename(found.path)} is a symbolic link, which is not followed`
    return fileProblem(found.path, message, 'put the file itself here')
  }
  if (found.kind === 'special') {
    const message = `${basename(found.path)} is not a regular file`
    return fileProblem(found.path, message, 'put a file of YAML here')
  }
  return undefined
}

function setLimit(path: string): ManifestProblem {
  return limitProblem(path, `the files of the set have more than ${SET_BYTES_MAX} bytes together`)
}

/** `problem` of a manifest that is not read, with its effect on other manifests. Pure. */
export function unseen(problem: ManifestProblem): ManifestProblem {
  const effect = 'until then the services of its folder stay unchanged, because it may have their Defaults'
  return { ...problem, hint: problem.hint === undefined ? effect : `${problem.hint}; ${effect}` }
}

/** The problem of a file that is not read because of its kind. Pure. */
export function fileProblem(file: string, message: string, hint: string): ManifestProblem {
  return { code: 'E_FILE', file, line: 1, column: 1, message, hint }
}

/** The problem of a file whose name is not UTF-8. Pure. */
export function badNameProblem(file: string): ManifestProblem {
  return fileProblem(file, 'the name of the file is not UTF-8', 'rename it')
}

/** The problem of a file that is not read because of its size. Pure. */
export function limitProblem(file: string, message: string): ManifestProblem {
  return { code: 'E_LIMIT', file, line: 1, column: 1, message, hint: 'split it' }
}
