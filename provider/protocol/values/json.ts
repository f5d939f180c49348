/** JSON with numbers of arbitrary precision, which stored state uses. */
import { numberFromText } from './number.ts'

/** A parsed object. */
export interface JsonObject {
  readonly [key: string]: unknown
}

/** Whether `value` is an object, not an array or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A string, in which nothing is a number, or a number. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Parses `text`. A number that JSON.parse would round remains text, which `conform` accepts for a number. Throws a
 * SyntaxError when it is not JSON.
 */
export function parseJson(text: string): unknown {
  const exact = text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || typeof numberFromText(token) === 'number' ? token : `"${token}"`,
  )
  try {
    return JSON.parse(exact)
  } catch {
    // The message of JSON.parse quotes the text, which may be a secret.
    throw new SyntaxError('not JSON')
  }
}
