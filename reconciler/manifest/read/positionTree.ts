import { EVENT_ID, type Event, getScalarValue, parseEvents } from 'js-yaml'

/** A value of a document, with the values in it. */
export interface TreeNode {
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

/**
 * The value of a key, or else of a mapping that `<<` merges. `searched` has the contents of mappings without the key:
 * with aliases, a mapping may be merged in very many ways.
 */
export function childOf(
  node: TreeNode,
  step: string | number,
  searched = new Set<TreeNode['children']>(),
): TreeNode | undefined {
  const own = node.children.get(step)
  const merged = node.children.get('<<')
  if (own !== undefined || merged === undefined || searched.has(node.children)) return own
  searched.add(node.children)
  const sources = merged.children.has(0) ? [...merged.children.values()] : [merged]
  for (const source of sources) {
    const found = childOf(source, step, searched)
    if (found !== undefined) return found
  }
  return undefined
}

/** A file, and the values of its document that aliases may refer to. */
interface Tokens {
  readonly text: string
  readonly events: readonly Event[]
  readonly anchored: Map<string, TreeNode>
}

/** The values of the documents of a file. Throws YAMLException when `text` is not YAML. */
export function readTree(text: string, maxDepth: number): readonly TreeNode[] {
  const events = parseEvents(text, { maxDepth })
  const documents: TreeNode[] = []
  let next = 0
  while (next < events.length) {
    // Each document is between a document event and a pop.
    const read = readNode({ text, events, anchored: new Map() }, next + 1, undefined)
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

function readNode(tokens: Tokens, at: number, key: Key | undefined): Read {
  const { text, events, anchored } = tokens
  const event = events[at]
  if (event?.type === EVENT_ID.ALIAS) {
    const extent = { start: event.anchorStart, end: event.anchorEnd }
    const target = anchored.get(text.slice(extent.start, extent.end)) ?? leaf(extent, undefined)
    return { node: placed(target, key), next: at + 1 }
  }
  const read = readValue(tokens, at, key)
  if (event !== undefined && 'anchorStart' in event && event.anchorStart >= 0)
    anchored.set(text.slice(event.anchorStart, event.anchorEnd), read.node)
  return read
}

function readValue(tokens: Tokens, at: number, key: Key | undefined): Read {
  const { text, events } = tokens
  const event = events[at]
  switch (event?.type) {
    case EVENT_ID.MAPPING:
      return readMapping(tokens, at, key)
    case EVENT_ID.SEQUENCE:
      return readSequence(tokens, at, key)
    case EVENT_ID.SCALAR: {
      const isEmpty = event.valueStart < 0
      const value = isEmpty
        ? (key ?? NOWHERE)
        : { start: textStart(text, event.valueStart), end: event.valueEnd }
      // A block scalar ends before the line break of its last line.
      const end = value.start + text.slice(value.start, value.end).trimEnd().length
      return { node: leaf({ start: value.start, end }, key), next: at + 1 }
    }
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

function readMapping(tokens: Tokens, at: number, key: Key | undefined): Read {
  const { text, events } = tokens
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
    const keyRead = readNode(tokens, next, undefined)
    const value = readNode(tokens, keyRead.next, keyRead.node)
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

function readSequence(tokens: Tokens, at: number, key: Key | undefined): Read {
  const { events } = tokens
  const start = startOf(events[at])
  let end = start
  const children = new Map<number, TreeNode>()
  let next = at + 1
  while (next < events.length && events[next]?.type !== EVENT_ID.POP) {
    const item = readNode(tokens, next, undefined)
    children.set(children.size, item.node)
    end = Math.max(end, item.node.end)
    next = item.next
  }
  return { node: placed({ start, end, children, repeated: NONE_REPEATED }, key), next: next + 1 }
}
