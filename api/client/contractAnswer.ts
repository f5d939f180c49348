import type { z } from 'zod'
import { ApiError, codeOfStatus } from '../contract/apiError.ts'
import { withoutApiKeys } from '../contract/apiKey.ts'
import { parsedUrl } from '../contract/endpointUrl.ts'
import { formatPath, problemsOf } from '../contract/problem.ts'
import type { Answer, Attempt } from './attempt.ts'

/** Longest error text of a refusal that is passed on (characters). */
const REFUSAL_CHARS_MAX = 500

/** An answer that does not match the contract: from another server, a proxy, or a newer API. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer'
}

/**
 * The answer's body as `schema` parses it. Throws UnreadableAnswer that names the first field that does not match the
 * contract.
 */
export function readAnswer<T>(schema: z.ZodType<T>, answer: Answer): T {
  const parsed = schema.safeParse(answer.json)
  if (parsed.success) return parsed.data
  if (answer.json === undefined) {
    const { 'content-type': type } = answer.headers
    const shown = typeof type === 'string' ? /^[\w.+-]+\/[\w.+-]+/.exec(type)?.[0] : undefined
    throw new UnreadableAnswer(
      `the server answered ${answer.status} with ${shown ?? 'something'} that is not JSON`,
    )
  }
  throw new UnreadableAnswer(`the server's answer does not match the API: ${firstProblem(parsed.error)}`)
}

/** A path that exists for every key, so that a 404 for it can only come from another server. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(['/v1/org', '/v1/services'])

/**
 * The refusal in `answer` (status 300 and above) to `request`; a body that does not match the contract is described by
 * its status. An UnreadableAnswer when the answer does not come from the API at `url`: a redirect, or a 404 of another
 * server, which would otherwise look like a deleted service. Pure.
 */
export function refusalOf(
  answer: Answer,
  request: Pick<Attempt, 'method' | 'path'>,
  url: string,
): ApiError | UnreadableAnswer {
  const { json, status, headers } = answer
  const what = `${request.method} ${request.path} was answered ${status}`
  if (status < 400) {
    const target = typeof headers.location === 'string' ? whereTo(headers.location, url) : ''
    return new UnreadableAnswer(`${url} does not look like the API: ${what}${target}`)
  }
  const text =
    typeof json === 'object' && json !== null && 'error' in json && typeof json.error === 'string'
      ? json.error
      : undefined
  if (status === 404 && (text === undefined || ALWAYS_THERE.has(request.path))) {
    return new UnreadableAnswer(
      `${url} does not look like the API: ${what} (the address ends before /v1, and has a path only if a proxy needs one)`,
    )
  }
  const words = text ?? `the server answered ${status} without saying why`
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

/** The first problem, with its path and without its value. Pure. */
export function firstProblem(error: z.core.$ZodError): string {
  const [problem] = problemsOf(error)
  if (problem === undefined) return 'no reason given'
  return `${formatPath(problem.path) || 'the body'} ${problem.message}`
}
