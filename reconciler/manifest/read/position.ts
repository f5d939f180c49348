import { formatPath, formatPointer } from '../../../api/contract/problem.ts'
import { MANIFEST_DEPTH_MAX } from '../manifestLimits.ts'
import type { LineColumn } from '../manifestProblem.ts'
import { childOf, readTree, type TreeNode } from './positionTree.ts'

/** Keys and indexes from the root of a document to a value. */
export type ManifestPath = readonly (string | number)[]

/** A range of a file, and the value of its document there. */
export interface Extent extends LineColumn {
  /** The place after the end. */
  readonly end: LineColumn
  /** JSON pointer in the document, cut off before the first key that is no name and may be a misplaced secret. */
  readonly pointer: string
}

/** The position of every value of a file. Created only for a problem, because it costs as much as parsing. */
export class Positions {
  readonly #text: string
  readonly #documents: readonly TreeNode[]
  readonly #lineStarts: readonly number[]

  /** Throws YAMLException when `text` is not YAML. */
  constructor(text: string, maxDepth = MANIFEST_DEPTH_MAX) {
    this.#text = text
    this.#documents = readTree(text, maxDepth)
    this.#lineStarts = lineStartsOf(text)
  }

  /**
   * The position of the key or the value at `path` of document number `index`. A missing path has the position of its
   * nearest ancestor's key, and a value that an alias shares that of its anchor.
   */
  locate(index: number, path: ManifestPath, part: 'key' | 'value'): Extent {
    let node = this.#documents[index]
    if (node === undefined) return { line: 1, column: 1, end: { line: 1, column: 1 }, pointer: '' }
    const pointer = shownPointer(path)
    for (const step of path) {
      const child: TreeNode | undefined = childOf(node, step)
      if (child === undefined) return this.#extent(node.keyStart, node.keyEnd, pointer)
      node = child
    }
    return part === 'key'
      ? this.#extent(node.keyStart, node.keyEnd, pointer)
      : this.#extent(node.start, node.end, pointer)
  }

  #extent(start: number, end: number, pointer: string): Extent {
    return { ...this.lineColumn(start), end: this.lineColumn(Math.max(start, end)), pointer }
  }

  /** Offsets of the key and the value at `path` of document number `index`, after opening quotes; `undefined` when missing. */
  offsets(index: number, path: ManifestPath): { readonly key: number; readonly value: number } | undefined {
    const node = this.#nodeAt(index, path)
    return node === undefined ? undefined : { key: node.keyStart, value: node.start }
  }

  /** The characters of the value at `path` of document number `index`; `undefined` when missing. */
  written(index: number, path: ManifestPath): string | undefined {
    const node = this.#nodeAt(index, path)
    return node === undefined ? undefined : this.#text.slice(node.start, node.end) || undefined
  }

  #nodeAt(index: number, path: ManifestPath): TreeNode | undefined {
    let node = this.#documents[index]
    for (const step of path) node = node === undefined ? undefined : childOf(node, step)
    return node
  }

  /**
   * Whether a mapping on the way to `path` of document number `index` was written twice, so that one of the two is
   * lost.
   */
  isWrittenTwice(index: number, path: ManifestPath): boolean {
    let node = this.#documents[index]
    for (const step of path) {
      if (node?.repeated.some(({ key }) => key === step)) return true
      node = node?.children.get(step)
    }
    return false
  }

  /** Every repetition of a key in a mapping. */
  repeatedKeys(): readonly { readonly key: string; readonly at: LineColumn & Pick<Extent, 'end'> }[] {
    return [...nodesIn(this.#documents)].flatMap(({ repeated }) =>
      repeated.map(({ key, start, end }) => ({
        key,
        at: { ...this.lineColumn(start), end: this.lineColumn(end) },
      })),
    )
  }

  /** The position of the first key that is a mapping or a list, such as that of an unfilled template. */
  complexKey(): LineColumn | undefined {
    for (const { complexKey } of nodesIn(this.#documents))
      if (complexKey !== undefined) return this.lineColumn(complexKey)
    return undefined
  }

  lineColumn(offset: number): LineColumn {
    const index = lineIndexAt(offset, this.#lineStarts)
    const lineStart = this.#lineStarts[index] ?? 0
    // A byte order mark occupies no column.
    const mark = index === 0 && this.#text.startsWith('\uFEFF') ? 1 : 0
    return { line: index + 1, column: Math.max(1, offset - lineStart + 1 - mark) }
  }
}

/** `nodes` with all nodes in them, each before those in it. */
function* nodesIn(nodes: Iterable<TreeNode>): Generator<TreeNode> {
  for (const node of nodes) {
    yield node
    yield* nodesIn(node.children.values())
  }
}

/** Index of the line at `offset`, given the offsets at which lines start. Pure. */
export function lineIndexAt(offset: number, starts: readonly number[]): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

function shownPointer(path: ManifestPath): string {
  const hidden = path.findIndex((step) => formatPath([step]) === HIDDEN_KEY)
  return formatPointer(hidden < 0 ? path : path.slice(0, hidden))
}

/** Replaces a key that is no name. */
const HIDDEN_KEY = '…'

function lineStartsOf(text: string): readonly number[] {
  const starts = [0]
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length)
  return starts
}
