/** JSON with numbers of arbitrary precision, which stored state uses. Node 20's JSON.parse loses digits. */
import { Decimal, type NumberValue, numberFromText } from './number.ts'

/** A JSON document. Parsed objects have no prototype, so a key such as `__proto__` is a key like any other. */
export type JsonValue =
  | null
  | boolean
  | string
  | NumberValue
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }

export interface JsonObject {
  readonly [key: string]: JsonValue
}

/** Whether `value` is an object, not an array, a number or null. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Decimal)
}

/** Maximum nesting depth. A deeper document is refused, because it could exhaust the stack. */
const DEPTH_MAX = 500

const TOKEN =
  /[\s]*(?:([[\]{},:])|("[^"\\]*(?:\\.[^"\\]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y

/** Parses `text`. Throws a SyntaxError with the offset, but without the text, when it is not JSON. */
export function parseJson(text: string): JsonValue {
  const tokens = tokenReader(text)
  const value = readValue(tokens, 0)
  tokens.end()
  return value
}

interface Tokens {
  /** The next token. Strings keep their quotes. */
  next(): string
  /** Consumes the next token if it is `wanted`. */
  skip(wanted: string): boolean
  refuse(): never
  end(): void
}

function tokenReader(text: string): Tokens {
  let offset = 0
  const refuse = (): never => {
    throw new SyntaxError(`not JSON at offset ${offset}`)
  }
  const peek = (): { token: string; after: number } => {
    TOKEN.lastIndex = offset
    const match = TOKEN.exec(text)
    if (match === null) return refuse()
    return { token: match[0].trimStart(), after: TOKEN.lastIndex }
  }
  const next = (): string => {
    const { token, after } = peek()
    offset = after
    return token
  }
  const skip = (wanted: string): boolean => {
    const { token, after } = peek()
    if (token === wanted) offset = after
    return token === wanted
  }
  const end = (): void => {
    if (text.slice(offset).trim() !== '') refuse()
  }
  return { next, skip, refuse, end }
}

function readValue(tokens: Tokens, depth: number): JsonValue {
  if (depth > DEPTH_MAX) tokens.refuse()
  const token = tokens.next()
  if (token === '{') return readObject(tokens, depth)
  if (token === '[') return readArray(tokens, depth)
  if (token === 'null') return null
  if (token === 'true' || token === 'false') return token === 'true'
  if (token.startsWith('"')) return readString(token) ?? tokens.refuse()
  return numberFromText(token) ?? tokens.refuse()
}

/** The string of a quoted token; `undefined` when an escape is wrong. */
function readString(token: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(token)
    return typeof parsed === 'string' ? parsed : undefined
  } catch (error) {
    // JSON.parse quotes the text in its message, and the text may be a secret.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function readArray(tokens: Tokens, depth: number): JsonValue {
  const items: JsonValue[] = []
  if (tokens.skip(']')) return items
  do items.push(readValue(tokens, depth + 1))
  while (tokens.skip(','))
  if (!tokens.skip(']')) tokens.refuse()
  return items
}

function readObject(tokens: Tokens, depth: number): JsonValue {
  const object: Record<string, JsonValue> = Object.create(null)
  if (tokens.skip('}')) return object
  do {
    const key = readString(tokens.next()) ?? tokens.refuse()
    if (!tokens.skip(':')) tokens.refuse()
    object[key] = readValue(tokens, depth + 1)
  } while (tokens.skip(','))
  if (!tokens.skip('}')) tokens.refuse()
  return object
}
