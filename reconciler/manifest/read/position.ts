import { EVENT_ID, type Event, getScalarValue, parseEvents } from 'js-yaml'
import { formatPath, formatPointer } from '../../../api/contract/problem.ts'
import { MANIFEST_DEPTH_MAX } from '../manifestLimits.ts'
import type { LineColumn } from '../manifestProblem.ts'

/** Keys and indexes from the root of a document to a value. */
export type ManifestPath = readonly (string | number)[]

/** A range of a file, and the value of its document there. */
export interface Extent extends LineColumn {
  /** The place after the end. */
  readonly end: LineColumn
  /** JSON pointer in the document, cut off before the first key that is no name and may be a misplaced secret. */
  readonly pointer: string
}

interface TreeNode {
  /** Offset of the value; of its key when the value is empty. */
  readonly start: number
  /** Offset of the end of the value, without quotes and brackets. */
  readonly end: number
  /** Offset of the key in its mapping; that of the value elsewhere. */
  readonly keyStart: number
  readonly keyEnd: number
  readonly children: ReadonlyMap<string | number, TreeNode>
  /** Offset of the first key that is a mapping or a list. */
  readonly complexKey?: number | undefined
  /** Repetitions of keys in the mapping. */
  readonly repeated: readonly { readonly key: string; readonly start: number; readonly end: number }[]
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
   * nearest ancestor's key.
   */
  locate(index: number, path: ManifestPath, part: 'key' | 'value'): Extent {
    let node = this.#documents[index]
    if (node === undefined) return { line: 1, column: 1, end: { line: 1, column: 1 }, pointer: '' }
    const pointer = shownPointer(path)
    for (const step of path) {
      const child: TreeNode | undefined = node.children.get(step)
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

  /** The characters of the value at `path` of document number `index`; `undefined` when missing or shared by an alias. */
  written(index: number, path: ManifestPath): string | undefined {
    const node = this.#nodeAt(index, path)
    const text = node === undefined ? '' : this.#text.slice(node.start, node.end)
    return text === '' || text.startsWith('*') ? undefined : text
  }

  #nodeAt(index: number, path: ManifestPath): TreeNode | undefined {
    let node = this.#documents[index]
    for (const step of path) node = node?.children.get(step)
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
    const found: { key: string; at: LineColumn & Pick<Extent, 'end'> }[] = []
    const visit = (node: TreeNode): void => {
      for (const { key, start, end } of node.repeated)
        found.push({ key, at: { ...this.lineColumn(start), end: this.lineColumn(end) } })
      for (const child of node.children.values()) visit(child)
    }
    for (const document of this.#documents) visit(document)
    return found
  }

  /** The position of the first key that is a mapping or a list, such as that of an unfilled template. */
  complexKey(): LineColumn | undefined {
    const visit = (node: TreeNode): number | undefined => {
      if (node.complexKey !== undefined) return node.complexKey
      for (const child of node.children.values()) {
        const found = visit(child)
        if (found !== undefined) return found
      }
      return undefined
    }
    for (const document of this.#documents) {
      const found = visit(document)
      if (found !== undefined) return this.lineColumn(found)
    }
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

function readTree(text: string, maxDepth: number): readonly TreeNode[] {
  const events = parseEvents(text, { maxDepth })
  const documents: TreeNode[] = []
  let next = 0
  while (next < events.length) {
    // Each document is between a document event and a pop.
    const read = readNode(text, events, next + 1, undefined)
    documents.push(read.node)
    next = read.next
    while (events[next]?.type === EVENT_ID.POP) next += 1
  }
  return documents
}

interface Read {
  readonly node: TreeNode
  readonly next: number
}

/** Offsets of the key of a value. */
type Key = Pick<TreeNode, 'start' | 'end'>

function readNode(text: string, events: readonly Event[], at: number, key: Key | undefined): Read {
  const event = events[at]
  switch (event?.type) {
    case EVENT_ID.MAPPING:
      return readMapping(text, events, at, key)
    case EVENT_ID.SEQUENCE:
      return readSequence(text, events, at, key)
    case EVENT_ID.SCALAR: {
      const isEmpty = event.valueStart < 0
      const value = isEmpty
        ? (key ?? NOWHERE)
        : { start: textStart(text, event.valueStart), end: event.valueEnd }
      // A block scalar ends before the line break of its last line.
      const end = value.start + text.slice(value.start, value.end).trimEnd().length
      return { node: leaf({ start: value.start, end }, key), next: at + 1 }
    }
    case EVENT_ID.ALIAS:
      return { node: leaf({ start: event.anchorStart, end: event.anchorEnd }, key), next: at + 1 }
    default:
      return { node: leaf(key ?? NOWHERE, key), next: at }
  }
}

/** A block scalar starts after the indentation of its first line. */
function textStart(text: string, start: number): number {
  if (text[start - 1] !== '\n') return start
  const blanks = /[^ ]/.exec(text.slice(start))?.index ?? 0
  return start + blanks
}

const NOWHERE: Key = { start: 0, end: 0 }

// Shared, because a file may have very many leaves.
const NO_CHILDREN: TreeNode['children'] = new Map()
const NONE_REPEATED: TreeNode['repeated'] = []

function leaf({ start, end }: Key, key: Key | undefined): TreeNode {
  return placed({ start, end, children: NO_CHILDREN, repeated: NONE_REPEATED }, key)
}

function placed(node: Omit<TreeNode, 'keyStart' | 'keyEnd'>, key: Key | undefined): TreeNode {
  const { start, end } = key ?? node
  return { ...node, keyStart: start, keyEnd: end }
}

function startOf(event: Event | undefined): number {
  return event !== undefined && 'start' in event ? event.start : 0
}

function readMapping(text: string, events: readonly Event[], at: number, key: Key | undefined): Read {
  const start = startOf(events[at])
  let end = start
  let complexKey: number | undefined
  const children = new Map<string, TreeNode>()
  const repeated: { key: string; start: number; end: number }[] = []
  let next = at + 1
  while (next < events.length && events[next]?.type !== EVENT_ID.POP) {
    const keyEvent = events[next]
    const scalar = keyEvent?.type === EVENT_ID.SCALAR ? keyEvent : undefined
    const name = scalar === undefined ? undefined : getScalarValue(text, scalar)
    const keyRead = readNode(text, events, next, undefined)
    const value = readNode(text, events, keyRead.next, keyRead.node)
    const { start: keyStart, end: keyEnd } = keyRead.node
    if (name !== undefined && children.has(name)) repeated.push({ key: name, start: keyStart, end: keyEnd })
    // Of repeated keys the last one, whose value the parser takes too.
    if (name !== undefined) children.set(name, value.node)
    else complexKey ??= keyStart
    end = Math.max(end, value.node.end)
    next = value.next
  }
  return { node: placed({ start, end, children, repeated, complexKey }, key), next: next + 1 }
}

function readSequence(text: string, events: readonly Event[], at: number, key: Key | undefined): Read {
  const start = startOf(events[at])
  let end = start
  const children = new Map<number, TreeNode>()
  let next = at + 1
  while (next < events.length && events[next]?.type !== EVENT_ID.POP) {
    const item = readNode(text, events, next, undefined)
    children.set(children.size, item.node)
    end = Math.max(end, item.node.end)
    next = item.next
  }
  return { node: placed({ start, end, children, repeated: NONE_REPEATED }, key), next: next + 1 }
}
