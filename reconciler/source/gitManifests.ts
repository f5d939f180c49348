import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { FILE_BYTES_MAX, SET_BYTES_MAX, SET_DOCUMENTS_MAX } from '../manifest/manifestLimits.ts'
import type { ManifestProblem } from '../manifest/manifestProblem.ts'
import {
  hiddenDefaults,
  type ManifestDocument,
  type ManifestFile,
  type ReadFile,
} from '../manifest/read/readYaml.ts'
import type { ReadSetFile } from '../manifest/values/valueReference.ts'
import { isManifestFile } from '../plan/sourceName.ts'
import { listTree, type ObjectReader, readBlobs, type TreeEntry, TreeTooLarge } from './gitTree.ts'
import {
  IGNORE_FILE,
  type IgnoreRules,
  type Ignores,
  NOTHING_IGNORED,
  readIgnoreRules,
} from './ignoreFile.ts'
import { badNameProblem, fileProblem, limitProblem, readBytes, unseen } from './manifestFiles.ts'

/** The manifests of one commit. */
export interface CommitManifests {
  /** Whether the commit has anything at the path. */
  readonly exists: boolean
  readonly documents: readonly ManifestDocument[]
  readonly problems: readonly ManifestProblem[]
  /** Reads files fetched by `fetchBodies`. */
  readonly readSetFile: ReadSetFile
  /** Fetches the files that `readSetFile` has missed; returns whether there were any. Throws BrokenMirror. */
  fetchBodies(): Promise<boolean>
}

interface Found {
  readonly entry: TreeEntry
  /** Path from the root of the repository, for display. */
  readonly file: string
  /** Path below the root of the set, with forward slashes. */
  readonly below: string
}

/**
 * Reads the manifests at `path` (`.` for all) in the commits of `mirror`, and parses a file again only when its content or
 * its path has changed.
 */
export function manifestReader(mirror: ObjectReader, path: string) {
  const root = path === '.' ? '' : path.replace(/\/+$/, '')
  let parsed: ReadonlyMap<string, ReadFile> = new Map()
  return {
    /** Throws BrokenMirror. */
    read: async (sha: string): Promise<CommitManifests> => {
      const listed = await treeBelow(mirror, sha, path)
      if ('problem' in listed) return unreadSet([listed.problem])
      const entries = listed.map((entry) => found(entry, root))
      const rules = await ignoreRulesIn(mirror, entries)
      // Without its rules, manifests that were left out on purpose would be applied.
      if (rules.problems.length > 0) return unreadSet(rules.problems)
      const { taken, hidden, problems } = sorted(entries, rules.ignores)
      const nameOf = ({ entry }: Found): string => `${entry.sha} ${entry.path}`
      const fresh = taken.filter((one) => !parsed.has(nameOf(one)))
      const blobs = await readBlobs(mirror, [...new Set(fresh.map(({ entry }) => entry.sha))])
      const now = new Map<string, ReadFile>()
      for (const one of taken) {
        const known = parsed.get(nameOf(one))
        now.set(nameOf(one), known ?? readBytes(fileOf(one), blobs.get(one.entry.sha) ?? Buffer.of()))
        // Other sets run in this process, and their leases are renewed.
        if (known === undefined) await setImmediate()
      }
      // Files that the newest commit no longer has are dropped from the cache.
      parsed = now
      const documents = [...hidden, ...[...now.values()].flatMap((read) => read.documents)]
      const all = [...problems, ...[...now.values()].flatMap((read) => read.problems)]
      const tooMany = documents.length > SET_DOCUMENTS_MAX
      if (tooMany) all.push(limitProblem(path, `the set has more than ${SET_DOCUMENTS_MAX} documents`))
      return {
        exists: entries.length > 0,
        documents: tooMany ? [] : documents,
        problems: all,
        ...bodyFiles(mirror, entries),
      }
    },
  }
}

async function treeBelow(
  mirror: ObjectReader,
  sha: string,
  path: string,
): Promise<readonly TreeEntry[] | { readonly problem: ManifestProblem }> {
  try {
    return await listTree(mirror, sha, path)
  } catch (error) {
    if (!(error instanceof TreeTooLarge)) throw error
    return { problem: limitProblem(path, error.message) }
  }
}

/** A set that is not read because of `problems`. */
function unreadSet(problems: readonly ManifestProblem[]): CommitManifests {
  return {
    exists: true,
    documents: [],
    problems,
    readSetFile: () => 'absent',
    fetchBodies: async () => false,
  }
}

function found(entry: TreeEntry, root: string): Found {
  const { path } = entry
  const isWithin = root !== '' && path.startsWith(`${root}/`)
  // A path that names one file has that file as its whole set.
  const below = isWithin ? path.slice(root.length + 1) : path === root ? posix.basename(path) : path
  return { entry, file: path.replaceAll(/\p{Cc}/gu, '…'), below }
}

/** Selects the manifest files, and reports problems of others. Checks sizes before anything is read. */
function sorted(entries: readonly Found[], ignores: Ignores) {
  const taken: Found[] = []
  const hidden: ManifestDocument[] = []
  const problems: ManifestProblem[] = []
  let bytes = 0
  for (const one of entries) {
    if (isHidden(one) || ignores(one.below, false)) continue
    const refused = refusalOf(one, bytes)
    if (refused !== undefined) {
      const isUnseen = isManifestFile(one.below)
      problems.push(isUnseen ? unseen(refused) : refused)
      if (isUnseen) hidden.push(hiddenDefaults(fileOf(one)))
    } else if (isManifest(one)) {
      bytes += one.entry.size
      taken.push(one)
    }
  }
  return { taken, hidden, problems }
}

/** Whether the name of the file or one of its folders starts with a dot. */
function isHidden({ below }: Found): boolean {
  return below.split('/').some((step) => step.startsWith('.'))
}

/** The rules of the ignore file at the root of the set. */
async function ignoreRulesIn(mirror: ObjectReader, entries: readonly Found[]): Promise<IgnoreRules> {
  const found = entries.find(({ below }) => below === IGNORE_FILE)
  if (found === undefined) return NOTHING_IGNORED
  const { entry, file } = found
  const refuse = (problem: ManifestProblem): IgnoreRules => ({ ...NOTHING_IGNORED, problems: [problem] })
  if (entry.kind !== 'file')
    return refuse(fileProblem(file, 'the ignore file is not a regular file', 'put a file here'))
  if (entry.size > FILE_BYTES_MAX)
    return refuse(limitProblem(file, `the file has more than ${FILE_BYTES_MAX} bytes`))
  return readIgnoreRules((await readBlobs(mirror, [entry.sha])).get(entry.sha) ?? Buffer.of(), file)
}

function isManifest({ below, entry }: Found): boolean {
  return entry.kind === 'file' && isManifestFile(below)
}

function refusalOf(one: Found, bytesSoFar: number): ManifestProblem | undefined {
  const { entry, file, below } = one
  if (entry.kind === 'submodule') {
    const message = 'this is a submodule, which is not read'
    return fileProblem(file, message, 'copy its manifests here, or move it out of the path of the set')
  }
  // A link without an extension may point to a folder of manifests, which would be missing.
  if (entry.kind === 'link' && (isManifestFile(below) || !posix.basename(below).includes('.'))) {
    return fileProblem(
      file,
      'this is a symbolic link, which is not followed',
      'put the files themselves here',
    )
  }
  if (!isManifest(one)) return undefined
  if (!entry.isUtf8) return badNameProblem(file)
  if (entry.size > FILE_BYTES_MAX) return limitProblem(file, `the file has more than ${FILE_BYTES_MAX} bytes`)
  if (bytesSoFar + entry.size > SET_BYTES_MAX) {
    return limitProblem(file, `the files of the set have more than ${SET_BYTES_MAX} bytes together`)
  }
  return undefined
}

function fileOf({ file, below }: Found): Pick<ManifestFile, 'file' | 'directory'> {
  const directory = posix.dirname(below)
  return { file, directory: directory === '.' ? '' : directory }
}

/** Bodies are known only while a set is compiled: missing ones are recorded then, and fetched afterwards. */
function bodyFiles(
  mirror: ObjectReader,
  entries: readonly Found[],
): Pick<CommitManifests, 'readSetFile' | 'fetchBodies'> {
  const files = new Map(entries.map(({ below, entry }) => [below, entry]))
  const bodies = new Map<string, Buffer>()
  const missing = new Set<string>()
  let bytes = 0
  return {
    readSetFile: (path, bytesMax) => {
      const entry = files.get(path)
      if (entry?.kind !== 'file') return 'absent'
      if (entry.size > bytesMax) return 'too-large'
      const body = bodies.get(entry.sha)
      if (body !== undefined || missing.has(entry.sha)) return body ?? Buffer.of()
      // Each is small, but their number is not limited.
      if (bytes + entry.size > SET_BYTES_MAX) return 'too-large'
      bytes += entry.size
      missing.add(entry.sha)
      return Buffer.of()
    },
    fetchBodies: async () => {
      if (missing.size === 0) return false
      for (const [sha, bytes] of await readBlobs(mirror, [...missing])) bodies.set(sha, Buffer.from(bytes))
      missing.clear()
      return true
    },
  }
}
