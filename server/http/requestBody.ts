import type { z } from 'zod'
import { ApiError } from '../../api/contract/apiError.ts'
import { firstIgnoredField, formatPath, type Problem, problemsOf } from '../../api/contract/problem.ts'
import type { Exchange } from './operation.ts'

/** Longest error text (characters). Gap G11. */
const MESSAGE_CHARS_MAX = 300

const STRICT = /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:;|,|$)/i

/**
 * The body as `schema` reads it. Throws `invalid` with the first problem: its JSON path and what is wrong,
 * never the value (Gap G11). Unknown fields are dropped, or refused when the caller asked for strictness
 * with `Prefer: handling=strict` (Gap G17).
 */
export function readBody<Body>(schema: z.ZodType<Body>, exchange: Exchange): Body {
  if (typeof exchange.body !== 'object' || exchange.body === null || Array.isArray(exchange.body)) {
    throw invalid({ path: [], message: 'must be a JSON object' })
  }
  const parsed = schema.safeParse(exchange.body)
  if (!parsed.success) {
    throw invalid(problemsOf(parsed.error)[0] ?? { path: [], message: 'is not valid' })
  }
  if (STRICT.test(exchange.header('prefer') ?? '')) {
    const ignored = firstIgnoredField(exchange.body, parsed.data)
    if (ignored !== undefined) throw invalid({ path: ignored, message: 'is not a known field' })
  }
  return parsed.data
}

/** The refusal of a body because of `problem`. Pure. */
export function invalid({ path, message }: Problem): ApiError {
  const where = path.length === 0 ? 'body' : formatPath(path)
  return new ApiError('invalid', `${where}: ${message}`.slice(0, MESSAGE_CHARS_MAX))
}
