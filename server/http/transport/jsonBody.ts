import { ApiError } from '../../../api/contract/apiError.ts'
import type { YieldTurn } from './eventLoopTurns.ts'
import { invalidBody } from './invalidBody.ts'
import { CHUNK_CHARS, JsonLimitError, MEMBERS_MAX, parseInSlices } from './slicedJson.ts'
import { inSlices, Slices } from './slices.ts'

/** Maximum size of a request body (bytes). Gap G13. */
export const BODY_BYTES_MAX = 1_048_576
/** Maximum nesting depth of a body. Gap G20. */
export const NESTING_MAX = 64

const TOO_DEEP = `must not be nested deeper than ${NESTING_MAX} levels`

const MEDIA_TYPE = /^\s*application\/json\s*(?:;|$)/i
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i
// UTF-8 cannot store a lone surrogate, and not every database stores U+0000.
const UNSTORABLE = /[\0\p{Surrogate}]/u

/** Throws `unsupported_media_type` unless the headers announce JSON in UTF-8, uncompressed. Gap G20. Pure. */
export function assertJson(contentType: string | undefined, contentEncoding: string | undefined): void {
  const charset = CHARSET.exec(contentType ?? '')?.[1]
  const isUtf8 = charset === undefined || /^utf-?8$/i.test(charset)
  // Command-line clients send no Content-Type.
  if (contentType !== undefined && contentType !== '' && !(MEDIA_TYPE.test(contentType) && isUtf8)) {
    throw new ApiError('unsupported_media_type', 'content-type must be application/json in UTF-8')
  }
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw new ApiError('unsupported_media_type', 'content-encoding is not supported')
  }
}

/**
 * The JSON value of `bytes`, parsed in slices. Rejects with `invalid` for a value that could not be stored and returned
 * unchanged. Gap G32, Gap G40.
 */
export async function parseJson(bytes: Uint8Array, yieldTurn: YieldTurn): Promise<unknown> {
  const text = decode(bytes)
  // Most bodies are short, and a long body that is a single string has no parts.
  const isShort = text.length <= CHUNK_CHARS || !/^[ \t\n\r]*[[{]/.test(text)
  const { value, problem } = isShort ? readAtOnce(text) : await inSlices(readInParts(text), yieldTurn)
  if (problem !== undefined) throw new ApiError('invalid', `body: ${problem}`)
  return value
}

interface ReadJson {
  readonly value: unknown
  readonly problem: string | undefined
}

function readAtOnce(text: string): ReadJson {
  const value = parse(() => JSON.parse(text))
  return { value, problem: jsonProblem(text, value) }
}

function* readInParts(text: string): Generator<void, ReadJson> {
  let problem: string | undefined
  const steps = parseInSlices(text, new Slices(), {
    nestingMax: NESTING_MAX,
    membersMax: MEMBERS_MAX,
    onPart: (part, run, depth) => {
      if (WORTH_A_LOOK.test(run)) problem ??= contentProblem(part, depth)
    },
    onMember: (name, value) => {
      problem ??= keyProblem(name, value)
    },
  })
  for (;;) {
    const step = parse(() => steps.next())
    if (step.done === true) return { value: step.value, problem }
    yield
  }
}

// Drops a byte order mark (Gap G32).
const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    throw new ApiError('invalid', 'body: is not UTF-8', { cause: error })
  }
}

function parse<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof JsonLimitError) throw invalidBody(error.problem)
    if (!(error instanceof SyntaxError)) throw error
    // The parser's message quotes the text, which may contain a secret, so it is not kept as the cause either.
    throw new ApiError('invalid', 'body: is not valid JSON')
  }
}

/**
 * Why `value`, parsed from `text`, could not be stored and returned unchanged, as the rest of a sentence; `undefined`
 * when it can. Gap G32. Pure.
 */
export function jsonProblem(text: string, value: unknown): string | undefined {
  return isPlain(text) ? undefined : contentProblem(value, 1)
}

// JSON can express U+0000 or a lone surrogate only with an escape. Without escapes, names are literal.
const WORTH_A_LOOK = /\\u|__proto__|constructor/

/**
 * Whether `text`, which is JSON, certainly has no content problem. That is true for most texts and cheaper than
 * visiting each value.
 */
function isPlain(text: string): boolean {
  if (WORTH_A_LOOK.test(text)) return false
  return countUpTo(text, '{') + countUpTo(text, '[') <= NESTING_MAX
}

/** Occurrences of `char` in `text`, counted up to the nesting limit. */
function countUpTo(text: string, char: string): number {
  let count = 0
  for (let at = text.indexOf(char); at !== -1 && count <= NESTING_MAX; at = text.indexOf(char, at + 1)) {
    count += 1
  }
  return count
}

function contentProblem(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') {
    return UNSTORABLE.test(value) ? 'must not contain U+0000 or lone surrogates' : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > NESTING_MAX) return TOO_DEEP
  for (const [key, nested] of Object.entries(value)) {
    const problem = keyProblem(key, nested) ?? contentProblem(nested, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

function keyProblem(key: string, value: unknown): string | undefined {
  if (UNSTORABLE.test(key)) return 'must not contain U+0000 or lone surrogates'
  const reachesPrototype =
    key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
  return key === '__proto__' || reachesPrototype ? 'must not name a prototype' : undefined
}
