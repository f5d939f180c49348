import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { FILE_BYTES_MAX, SET_BYTES_MAX, SET_DOCUMENTS_MAX } from '../manifest/manifestLimits.ts'
import type { ManifestProblem } from '../manifest/manifestProblem.ts'
import { type ManifestDocument, type ManifestFile, readYaml } from '../manifest/readYaml.ts'

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
 * dot are left out; symbolic links are refused, because they could lead out of the folder.
 */
export function readManifests(path: string): ManifestSource {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry === undefined) {
    return { exists: false, rootDirectory: path, files: 0, documents: [], problems: [] }
  }
  const isFile = !entry.isDirectory() && !entry.isSymbolicLink()
  const rootDirectory = isFile ? dirname(path) : path
  const found = isFile ? [{ path, directory: '', kind: 'file' as const }] : listed(path, '')
  return { exists: true, rootDirectory, ...readFiles(found) }
}

interface Found {
  readonly path: string
  /** Folder below the root, with forward slashes. */
  readonly directory: string
  readonly kind: 'file' | 'link'
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
    return [{ path, directory, kind: entry.isSymbolicLink() ? 'link' : 'file' }]
  })
}

function readFiles(found: readonly Found[]): Pick<ManifestSource, 'files' | 'documents' | 'problems'> {
  const documents: ManifestDocument[] = []
  const problems: ManifestProblem[] = []
  let bytes = 0
  for (const one of found) {
    const size = lstatSync(one.path).size
    const refused = refusalOf(one, size, bytes)
    if (refused !== undefined) {
      problems.push(refused)
      continue
    }
    bytes += size
    const read = readYaml(textOf(one))
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

function textOf(found: Found): ManifestFile {
  return { file: found.path, directory: found.directory, text: readFileSync(found.path, 'utf8') }
}

function refusalOf(found: Found, size: number, bytesSoFar: number): ManifestProblem | undefined {
  if (found.kind === 'link') {
    return {
      code: 'E_FILE',
      file: found.path,
      line: 1,
      column: 1,
      message: `${basename(found.path)} is a symbolic link, which is not followed`,
      hint: 'put the file itself here',
    }
  }
  if (size > FILE_BYTES_MAX) return limit(found.path, `the file has more than ${FILE_BYTES_MAX} bytes`)
  if (bytesSoFar + size > SET_BYTES_MAX) {
    return limit(found.path, `the files of the set have more than ${SET_BYTES_MAX} bytes together`)
  }
  return undefined
}

function limit(file: string, message: string): ManifestProblem {
  return { code: 'E_LIMIT', file, line: 1, column: 1, message, hint: 'split it' }
}
