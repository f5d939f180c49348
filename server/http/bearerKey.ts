import { isApiKey } from '../../api/contract/apiKey.ts'

const BEARER = /^bearer (\S+)$/i

/**
 * The API key of a request's raw headers (name, value, name, value …); `undefined` when there is none, more
 * than one, or anything but `Bearer`, one blank and a key. Contract: Authentication, rules 1 and 2. Pure.
 */
export function bearerKey(rawHeaders: readonly string[]): string | undefined {
  let authorization: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== 'authorization') continue
    // Node would answer for the first of two: whoever put the second there may have meant that one.
    if (authorization !== undefined) return undefined
    authorization = rawHeaders[index + 1] ?? ''
  }
  const key = BEARER.exec(authorization ?? '')?.[1]
  return key !== undefined && isApiKey(key) ? key : undefined
}
