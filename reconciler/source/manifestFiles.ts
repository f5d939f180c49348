import { type Dirent, readdirSync, readFileSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { FILE_BYTES_MAX, SET_BYTES_MAX, SET_DOCUMENTS_MAX } from '../manifest/manifestLimits.ts'
import type { ManifestProblem } from '../manifest/manifestProblem.ts'
import { type ManifestDocument, type ManifestFile, type ReadFile, readYaml } from '../manifest/readYaml.ts'
import { decodeUtf8 } from '../manifest/utf8Text.ts'

/** What stands below a path: its documents, what could not be read, and where relative files start. */
export interface ManifestSource {
  /** Whether there is anything at the path at all. */
  readonly exists: boolean
  readonly rootDirectory: string
  readonly files: number
  readonly documents: readonly ManifestDocument[]
  readonly problems: readonly ManifestProblem[]
}

/**
 * Reads every `.yaml` and `.yml` below `path`, or `path` itself when it is a file. Names that start with a
 * dot are left out. Symbolic links below it are refused, because they could lead out of the folder, and so
 * is everything that is no regular file: reading a pipe waits for whoever writes to it.
 */
export function readManifests(path: string): ManifestSource {
  const entry = statSync(path, { throwIfNoEntry: false })
  if (entry === undefined) {
    return { exists: false, rootDirectory: path, files: 0, documents: [], problems: [] }
  }
  if (entry.isDirectory()) return { exists: true, rootDirectory: path, ...readFiles(listed(path, '')) }
  return {
    exists: true,
    rootDirectory: dirname(path),
    ...readFiles([{ path, directory: '', kind: kindOf(entry) }]),
  }
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

function listed(folder: string, directory: string): readonly Found[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  return entries.flatMap((entry): readonly Found[] => {
    if (entry.name.startsWith('.')) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      return listed(path, directory === '' ? entry.name : `${directory}/${entry.name}`)
    }
    if (!/\.ya?ml$/.test(entry.name)) return []
    return [{ path, directory, kind: kindOf(entry) }]
  })
}

function readFiles(found: readonly Found[]): Pick<ManifestSource, 'files' | 'documents' | 'problems'> {
  const documents: ManifestDocument[] = []
  const problems: ManifestProblem[] = []
  let bytes = 0
  for (const one of found) {
    // A link has the size of what it leads to, if it leads anywhere; it is refused anyway.
    const size = one.kind === 'link' ? 0 : statSync(one.path).size
    const refused = refusalOf(one, size, bytes)
    if (refused !== undefined) {
      problems.push(refused)
      continue
    }
    bytes += size
    const read = readFile(one)
    // Not push(...): a file may hold more documents than a call may have arguments.
    for (const document of read.documents) documents.push(document)
    problems.push(...read.problems)
  }
  const [first] = found
  if (documents.length > SET_DOCUMENTS_MAX && first !== undefined) {
    problems.push(limit(dirname(first.path), `the set has more than ${SET_DOCUMENTS_MAX} documents`))
    return { files: found.length, documents: [], problems }
  }
  return { files: found.length, documents, problems }
}

function readFile({ path, directory }: Found): Pick<ManifestSource, 'documents' | 'problems'> {
  return readBytes({ file: path, directory }, readFileSync(path))
}

/** What `bytes`, the content of a manifest file, hold. Pure. */
export function readBytes(
  { file, directory }: Pick<ManifestFile, 'file' | 'directory'>,
  bytes: Buffer,
): ReadFile {
  const decoded = decodeUtf8(bytes)
  if ('text' in decoded) return readYaml({ file, directory, text: decoded.text })
  const problem: ManifestProblem = {
    code: 'E_YAML',
    file,
    ...decoded.badAt,
    message: 'not UTF-8',
    hint: 'save the file as UTF-8',
  }
  return { documents: [], problems: [problem] }
}

function refusalOf(found: Found, size: number, bytesSoFar: number): ManifestProblem | undefined {
  if (found.kind === 'link') {
    const message = `${basename(found.path)} is a symbolic link, which is not followed`
    return unfit(found.path, message, 'put the file itself here')
  }
  if (found.kind === 'special') {
    const message = `${basename(found.path)} is not a regular file`
    return unfit(found.path, message, 'put a file of YAML here')
  }
  if (size > FILE_BYTES_MAX) return limit(found.path, `the file has more than ${FILE_BYTES_MAX} bytes`)
  if (bytesSoFar + size > SET_BYTES_MAX) {
    return limit(found.path, `the files of the set have more than ${SET_BYTES_MAX} bytes together`)
  }
  return undefined
}

/** A file that is not read for what it is. Pure. */
export function unfit(file: string, message: string, hint: string): ManifestProblem {
  return { code: 'E_FILE', file, line: 1, column: 1, message, hint }
}

/** A file that is not read for its size. Pure. */
export function limit(file: string, message: string): ManifestProblem {
  return { code: 'E_LIMIT', file, line: 1, column: 1, message, hint: 'split it' }
}
