import { EVENT_ID, type Event, getScalarValue, parseEvents } from 'js-yaml'
import { MANIFEST_DEPTH_MAX } from './manifestLimits.ts'

/** Keys and indexes from the root of a document to a value. */
export type ManifestPath = readonly (string | number)[]

/** A line and a column, both from 1. */
export interface LineColumn {
  readonly line: number
  readonly column: number
}

interface TreeNode {
  /** Offset of the value, or of its key where the value is empty. */
  readonly start: number
  /** Offset of the key in its mapping; that of the value elsewhere. */
  readonly keyStart: number
  readonly children: ReadonlyMap<string | number, TreeNode>
  /** Keys that the mapping holds more than once, at their repetitions. */
  readonly repeated: readonly { readonly key: string; readonly start: number }[]
}

/** Where every value of a file stands. Made only when something is wrong, because it costs as much as parsing. */
export class Positions {
  readonly #text: string
  readonly #documents: readonly TreeNode[]
  readonly #lineStarts: readonly number[]

  /** Throws YAMLException where `text` is no YAML. */
  constructor(text: string) {
    this.#text = text
    this.#documents = readTree(text)
    this.#lineStarts = lineStartsOf(text)
  }

  /**
   * Where `path` of document number `index` stands: its key with `'key'`, its value with `'value'`. A path
   * that is not there is placed at its nearest ancestor's key.
   */
  locate(index: number, path: ManifestPath, part: 'key' | 'value'): LineColumn {
    let node = this.#documents[index]
    if (node === undefined) return { line: 1, column: 1 }
    for (const step of path) {
      const child: TreeNode | undefined = node.children.get(step)
      if (child === undefined) return this.lineColumn(node.keyStart)
      node = child
    }
    return this.lineColumn(part === 'key' ? node.keyStart : node.start)
  }

  /** Offsets of the key and of the value at `path` of document number `index`, behind the quotes of quoted ones; `undefined` when it is not there. */
  offsets(index: number, path: ManifestPath): { readonly key: number; readonly value: number } | undefined {
    let node = this.#documents[index]
    for (const step of path) node = node?.children.get(step)
    return node === undefined ? undefined : { key: node.keyStart, value: node.start }
  }

  /** Every key that its mapping holds twice, where it is repeated. */
  repeatedKeys(): readonly { readonly key: string; readonly at: LineColumn }[] {
    const found: { key: string; at: LineColumn }[] = []
    const visit = (node: TreeNode): void => {
      for (const { key, start } of node.repeated) found.push({ key, at: this.lineColumn(start) })
      for (const child of node.children.values()) visit(child)
    }
    for (const document of this.#documents) visit(document)
    return found
  }

  lineColumn(offset: number): LineColumn {
    let low = 0
    let high = this.#lineStarts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    const lineStart = this.#lineStarts[low] ?? 0
    // A byte order mark takes no column on the screen.
    const mark = low === 0 && this.#text.startsWith('\uFEFF') ? 1 : 0
    return { line: low + 1, column: Math.max(1, offset - lineStart + 1 - mark) }
  }
}

function lineStartsOf(text: string): readonly number[] {
  const starts = [0]
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length)
  return starts
}

function readTree(text: string): readonly TreeNode[] {
  const events = parseEvents(text, { maxDepth: MANIFEST_DEPTH_MAX })
  const documents: TreeNode[] = []
  let next = 0
  while (next < events.length) {
    // A document event opens each document and a pop closes it.
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

function readNode(text: string, events: readonly Event[], at: number, key: number | undefined): Read {
  const event = events[at]
  switch (event?.type) {
    case EVENT_ID.MAPPING:
      return readMapping(text, events, at, key ?? event.start)
    case EVENT_ID.SEQUENCE:
      return readSequence(text, events, at, key ?? event.start)
    case EVENT_ID.SCALAR: {
      const start = event.valueStart >= 0 ? event.valueStart : (key ?? 0)
      return { node: leaf(start, key ?? start), next: at + 1 }
    }
    case EVENT_ID.ALIAS:
      return { node: leaf(event.anchorStart, key ?? event.anchorStart), next: at + 1 }
    default:
      return { node: leaf(key ?? 0, key ?? 0), next: at }
  }
}

// Shared: a file may have very many leaves.
const NO_CHILDREN: TreeNode['children'] = new Map()
const NONE_REPEATED: TreeNode['repeated'] = []

function leaf(start: number, keyStart: number): TreeNode {
  return { start, keyStart, children: NO_CHILDREN, repeated: NONE_REPEATED }
}

function readMapping(text: string, events: readonly Event[], at: number, keyStart: number): Read {
  const event = events[at]
  const start = event?.type === EVENT_ID.MAPPING ? event.start : keyStart
  const children = new Map<string, TreeNode>()
  const repeated: { key: string; start: number }[] = []
  let next = at + 1
  while (next < events.length && events[next]?.type !== EVENT_ID.POP) {
    const keyEvent = events[next]
    const scalar = keyEvent?.type === EVENT_ID.SCALAR ? keyEvent : undefined
    const name = scalar === undefined ? undefined : getScalarValue(text, scalar)
    const keyRead = readNode(text, events, next, undefined)
    const value = readNode(text, events, keyRead.next, keyRead.node.start)
    if (name !== undefined && children.has(name)) repeated.push({ key: name, start: keyRead.node.start })
    else if (name !== undefined) children.set(name, value.node)
    next = value.next
  }
  return { node: { start, keyStart, children, repeated }, next: next + 1 }
}

function readSequence(text: string, events: readonly Event[], at: number, keyStart: number): Read {
  const event = events[at]
  const start = event?.type === EVENT_ID.SEQUENCE ? event.start : keyStart
  const children = new Map<number, TreeNode>()
  let next = at + 1
  while (next < events.length && events[next]?.type !== EVENT_ID.POP) {
    const item = readNode(text, events, next, undefined)
    children.set(children.size, item.node)
    next = item.next
  }
  return { node: { start, keyStart, children, repeated: NONE_REPEATED }, next: next + 1 }
}
