import type { z } from 'zod'
import { ApiError, codeOfStatus } from '../contract/apiError.ts'
import { withoutApiKeys } from '../contract/apiKey.ts'
import { parsedUrl } from '../contract/endpointUrl.ts'
import { formatPath, formatPointer, problemsOf, valueAtPointer } from '../contract/problem.ts'
import type { Attempt, HttpResponse } from './attempt.ts'

/** Longest error text of a refusal that is passed on (characters). */
const REFUSAL_CHARS_MAX = 500
/** The status of a response to a deletion. Contract: Endpoints. */
const NO_CONTENT = 204

/** A response that does not match the contract: from another server, a proxy, or a newer API. */
export class UnreadableResponse extends Error {
  override readonly name = 'UnreadableResponse'
}

/**
 * The response's body as `schema` parses it. Throws UnreadableResponse that names the first field that does not match
 * the contract.
 */
export function readResponse<T>(schema: z.ZodType<T>, response: HttpResponse): T {
  const parsed = schema.safeParse(response.json)
  if (parsed.success) return parsed.data
  if (response.json === undefined) {
    throw new UnreadableResponse(
      `the server responded with ${response.status} and ${typeOf(response) ?? 'something'} that is not JSON`,
    )
  }
  throw new UnreadableResponse(
    `the server's response does not match the API: ${firstProblem(parsed.error, response.json)}`,
  )
}

/**
 * Throws UnreadableResponse unless `response` is the empty one of the contract: a gateway that sends a page with status
 * 200 has not forwarded the request.
 */
export function readNoContent(response: HttpResponse): void {
  if (response.status === NO_CONTENT) return
  const type = typeOf(response)
  const what = type === undefined ? `${response.status}` : `${response.status} and ${type}`
  throw new UnreadableResponse(`the server responded with ${what} instead of ${NO_CONTENT}`)
}

/** The media type of a response without its parameters; `undefined` when it has none. */
function typeOf({ headers }: HttpResponse): string | undefined {
  const { 'content-type': type } = headers
  return typeof type === 'string' ? /^[\w.+-]+\/[\w.+-]+/.exec(type)?.[0] : undefined
}

/** Paths that exist for every key, so that a 404 for one of them can only come from another server. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(['/v1/org', '/v1/regions', '/v1/services'])

/**
 * The refusal in `response` (status 300 and above) to `request`; a body that does not match the contract is described
 * by its status. An UnreadableResponse when the response does not come from the API at `url`: a redirect, or a 404 of
 * another server, which would otherwise look like a deleted service. Pure.
 */
export function refusalOf(
  response: HttpResponse,
  request: Pick<Attempt, 'method' | 'path'>,
  url: string,
): ApiError | UnreadableResponse {
  const { json, status, headers } = response
  const what = `${request.method} ${request.path} got status ${status}`
  if (status < 400) {
    const target = typeof headers.location === 'string' ? whereTo(headers.location, url) : ''
    return new UnreadableResponse(`${url} does not look like the API: ${what}${target}`)
  }
  const text =
    typeof json === 'object' && json !== null && 'error' in json && typeof json.error === 'string'
      ? json.error
      : undefined
  if (status === 404 && (text === undefined || ALWAYS_THERE.has(request.path))) {
    return new UnreadableResponse(
      `${url} does not look like the API: ${what} (the address ends before /v1, and has a path only if a proxy needs one)`,
    )
  }
  const words = text ?? `the server responded with ${status} without saying why`
  // A server may quote the key that it refuses.
  const printable = withoutApiKeys(words.replaceAll(/\p{Cc}+/gu, ' ')).slice(0, REFUSAL_CHARS_MAX)
  return new ApiError(codeOfStatus(status), printable, { status })
}

/** The target of a redirect, without its confidential parts. */
function whereTo(location: string, url: string): string {
  const target = parsedUrl(location, url)
  if (target === undefined) return ''
  const { origin, pathname } = target
  return ` with a redirect to ${origin}${pathname}, which is not followed`
}

/** The first problem of `value`, with its path and without its value. Pure. */
export function firstProblem(error: z.core.$ZodError, value: unknown): string {
  const [problem] = problemsOf(error)
  if (problem === undefined) return 'no reason given'
  const { path, message } = problem
  const isMissing = valueAtPointer(value, formatPointer(path)) === undefined
  return `${formatPath(path) || 'the body'} ${isMissing ? 'is missing: it ' : ''}${message}`
}
