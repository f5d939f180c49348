import { isUtf8 } from 'node:buffer'
import { GitOutputTooLarge } from '../git/gitProgram.ts'
import { BrokenMirror, type Mirror } from './gitMirror.ts'

/** Reads objects of a repository. */
export type ObjectReader = Pick<Mirror, 'read'>

/** One entry of a commit's tree. */
export interface TreeEntry {
  readonly kind: 'file' | 'link' | 'submodule'
  readonly sha: string
  /** Path from the root of the repository; approximate unless it is UTF-8. */
  readonly path: string
  readonly isUtf8: boolean
  /** Bytes of a file; 0 for other kinds. */
  readonly size: number
}

const KINDS: Readonly<Record<string, TreeEntry['kind']>> = {
  '100644': 'file',
  '100755': 'file',
  '120000': 'link',
  '160000': 'submodule',
}

/**
 * Maximum of entries below a path. A tree of a few kilobytes can contain billions of files, if its folders refer to the same
 * objects repeatedly.
 */
const ENTRIES_MAX = 200_000

/** There are more than ENTRIES_MAX files below a path. */
export class TreeTooLarge extends Error {
  override readonly name = 'TreeTooLarge'
  override readonly message = `there are more than ${ENTRIES_MAX} files`
}

/** All entries below `path` (`.` for all) in commit `sha`, in git's order. Throws BrokenMirror, and TreeTooLarge. */
export async function listTree(
  mirror: ObjectReader,
  sha: string,
  path: string,
): Promise<readonly TreeEntry[]> {
  const below = path === '.' ? [] : ['--', path.replace(/\/+$/, '')]
  const output = await mirror
    .read(['ls-tree', '-r', '-l', '-z', '--full-tree', sha, ...below])
    .catch((error: unknown) => {
      throw error instanceof GitOutputTooLarge ? new TreeTooLarge() : error
    })
  const records = recordsIn(output)
  if (records.length > ENTRIES_MAX) throw new TreeTooLarge()
  return records.map(entryOf)
}

function recordsIn(output: Buffer): readonly Buffer[] {
  const records: Buffer[] = []
  let from = 0
  for (let end = output.indexOf(0); end >= 0; end = output.indexOf(0, from)) {
    records.push(output.subarray(from, end))
    from = end + 1
  }
  return records
}

function entryOf(record: Buffer): TreeEntry {
  const tab = record.indexOf(0x09)
  const [mode = '', , sha = '', size = ''] = record.subarray(0, tab).toString('latin1').split(/ +/)
  // Historic modes, such as 100664, are those of files.
  const kind = KINDS[mode] ?? 'file'
  const name = record.subarray(tab + 1)
  return {
    kind,
    sha,
    path: name.toString('utf8'),
    isUtf8: isUtf8(name),
    size: kind === 'file' ? Number(size) : 0,
  }
}

/** The bytes of the blobs `shas`, by SHA, read with one process. Throws BrokenMirror when one is missing. */
export async function readBlobs(
  mirror: ObjectReader,
  shas: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const blobs = new Map<string, Buffer>()
  if (shas.length === 0) return blobs
  const output = await mirror.read(['cat-file', '--batch'], `${shas.join('\n')}\n`)
  let at = 0
  for (const sha of shas) {
    const lineEnd = output.indexOf(0x0a, at)
    const [found, type, size] = output.subarray(at, lineEnd).toString('latin1').split(' ')
    if (lineEnd < 0 || found !== sha || type !== 'blob') {
      throw new BrokenMirror(`the mirror has lost object ${sha}`)
    }
    const start = lineEnd + 1
    blobs.set(sha, output.subarray(start, start + Number(size)))
    at = start + Number(size) + 1
  }
  return blobs
}
