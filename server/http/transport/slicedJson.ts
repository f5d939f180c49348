import type { Problem } from '../../../api/contract/problem.ts'
import type { Slices } from './slices.ts'

/** Number of characters parsed at once. A hundred kilobytes of different names take a tenth of a second. */
export const CHUNK_CHARS = 16 * 1_024

/**
 * Maximum number of members of one object. The largest object of the contract has 50. Listing 100,000 different names
 * takes a tenth of a second that cannot be split. Gap G40.
 */
export const MEMBERS_MAX = 10_000

/** The text is JSON up to this point, but exceeds a limit of the parser. */
export class JsonLimitError extends Error {
  override readonly name = 'JsonLimitError'
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.message)
    this.problem = problem
  }
}

/** An object or array that is being read. */
interface Frame {
  readonly open: '{' | '['
  /** The object or array that contains it; absent for the root. */
  readonly parent: Frame | undefined
  /** Position of its bracket. */
  readonly at: number
  /** Start of the text that is not parsed yet. */
  runStart: number
  /** Whether a part before that text was parsed, so that the text begins with a comma. */
  isContinued: boolean
  /** The items or members parsed so far; absent before the first. */
  items?: unknown[]
  members?: Record<string, unknown>
  /** Number of its parsed members. */
  memberCount: number
}

/** Bounds of the parser, and callbacks for the parsed parts. */
export interface JsonParserOptions {
  /** Maximum nesting depth. */
  readonly nestingMax: number
  /** Maximum number of members of one object. */
  readonly membersMax: number
  /** Receives a part of a value at `depth`: a whole object or array with some of the members. `text` is its source. */
  readonly onPart: (part: object, text: string, depth: number) => void
  /** Receives a member that is too long for its part. */
  readonly onMember: (name: string, value: unknown) => void
}

/**
 * The value of `text`, the same as from JSON.parse, parsed in parts of about `chunkChars` with one slice for each.
 * Throws a SyntaxError where JSON.parse does, but without quoting the text, and a JsonLimitError at the first bracket
 * or member beyond a bound.
 */
export function* parseInSlices(
  text: string,
  slices: Slices,
  options: JsonParserOptions,
  chunkChars = CHUNK_CHARS,
): Generator<void, unknown> {
  let frame: Frame | undefined
  let depth = 0
  let isOver = false
  let root: unknown
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (isOver) assertBlank(text.slice(at, at + 1))
    else if (char === '"') at = endOfString(text, at)
    else if (char === '{' || char === '[') {
      if (depth === 0) assertBlank(text.slice(0, at))
      depth += 1
      if (depth > options.nestingMax) throw tooDeep(options.nestingMax)
      frame = { open: char, parent: frame, at, runStart: at + 1, isContinued: false, memberCount: 0 }
    } else if (char === '}' || char === ']') {
      depth -= 1
      if (depth < 0) throw new SyntaxError('one bracket too many')
      isOver = depth === 0
      const ended: Frame | undefined = frame
      if (ended === undefined || (ended.open === '{') !== (char === '}'))
        throw new SyntaxError('brackets do not match')
      frame = ended.parent
      const isShort = at - ended.at <= chunkChars && !ended.isContinued
      if (isShort && !isOver) continue
      takeRun(ended, { text, end: at, depth: depth + 1, options })
      const value = ended.items ?? ended.members
      if (frame === undefined) root = value
      else {
        takeRun(frame, { text, end: ended.at, depth, options, last: { value } })
        frame.runStart = at + 1
      }
      if (slices.spend(at - ended.runStart)) yield
    } else if (char === ',') {
      if (frame === undefined || at - frame.runStart < chunkChars) continue
      if (!frame.isContinued && BLANK.test(text.slice(frame.runStart, at))) throw new SyntaxError('a comma')
      takeRun(frame, { text, end: at, depth, options })
      if (slices.spend(at - frame.runStart)) yield
      frame.runStart = at
    }
  }
  if (!isOver) throw new SyntaxError('a bracket is missing')
  return root
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  throw new SyntaxError('a string does not end')
}

const BLANK = /^[ \t\n\r]*$/

function assertBlank(text: string): void {
  if (!BLANK.test(text)) throw new SyntaxError('text after the value')
}

interface Run {
  readonly text: string
  readonly end: number
  readonly depth: number
  readonly options: JsonParserOptions
  /** The value that ends at `end`, already parsed. */
  readonly last?: { readonly value: unknown }
}

/** Parses the text of `frame` up to `end`, and appends it to the parsed part. */
function takeRun(frame: Frame, { text, end, depth, options, last }: Run): void {
  const run = text.slice(frame.runStart, end)
  const members = membersOf(frame, run, last !== undefined)
  const isArray = frame.open === '['
  // A placeholder for the value that is already parsed: it keeps its position, and the grammar around it is checked. A
  // string, because a digit would extend a number before it without a comma.
  const standIn = last === undefined ? '' : '""'
  const part: unknown = JSON.parse(isArray ? `[${members}${standIn}]` : `{${members}${standIn}}`)
  frame.isContinued = true
  if (Array.isArray(part)) {
    options.onPart(part, run, depth)
    if (last !== undefined) part[part.length - 1] = last.value
    frame.items ??= []
    for (const item of part) frame.items.push(item)
    return
  }
  if (typeof part !== 'object' || part === null) return
  options.onPart(part, run, depth)
  frame.members ??= {}
  const target = frame.members
  const parsed = Object.entries(part)
  frame.memberCount += parsed.length
  if (frame.memberCount > options.membersMax) throw tooManyMembers(frame, text, options.membersMax)
  for (const [name, value] of parsed) define(target, name, value)
  if (last === undefined) return
  const name = lastName(members)
  options.onMember(name, last.value)
  define(target, name, last.value)
}

function tooDeep(nestingMax: number): JsonLimitError {
  return new JsonLimitError({ path: [], message: `must not be nested deeper than ${nestingMax} levels` })
}

function tooManyMembers(frame: Frame, text: string, membersMax: number): JsonLimitError {
  const message = `must have at most ${membersMax} members: send only the fields that the API documents`
  return new JsonLimitError({ path: pathOf(frame, text), message })
}

/** The path of `frame`, from the root. */
function pathOf({ parent, at }: Frame, text: string): readonly (string | number)[] {
  if (parent === undefined) return []
  const run = text.slice(parent.runStart, at)
  if (parent.open === '{') return [...pathOf(parent, text), lastName(run)]
  const before: unknown = JSON.parse(`[${membersOf(parent, run, true)}""]`)
  const parsedCount = parent.items?.length ?? 0
  return [...pathOf(parent, text), parsedCount + (Array.isArray(before) ? before.length - 1 : 0)]
}

/** The members in `run`, which follow a comma if others come before them. */
function membersOf({ isContinued }: Frame, run: string, isFollowed: boolean): string {
  if (!isContinued) return run
  const start = run.search(/[^ \t\n\r]/)
  if (start === -1 && !isFollowed) return ''
  const members = run.slice(start + 1)
  if (run[start] !== ',' || (BLANK.test(members) && !isFollowed)) throw new SyntaxError('a comma')
  return members
}

/** The name at the end of `members`, which end with a colon. */
function lastName(members: string): string {
  const colon = members.lastIndexOf(':')
  const end = members.lastIndexOf('"', colon)
  let start = members.lastIndexOf('"', end - 1)
  const isEscaped = (at: number): boolean => {
    let backslashes = 0
    while (members[at - 1 - backslashes] === '\\') backslashes += 1
    return backslashes % 2 === 1
  }
  while (isEscaped(start)) start = members.lastIndexOf('"', start - 1)
  return String(JSON.parse(members.slice(start, end + 1)))
}

/** Sets a member as JSON.parse does, for which `__proto__` is a name like any other. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}
