import type { z } from 'zod'
import { ApiError } from '../../api/contract/apiError.ts'
import { firstIgnoredField, formatPath, type Problem } from '../../api/contract/problem.ts'
import type { Exchange } from './operation.ts'
import { readInSlices } from './schemaRead.ts'
import { inSlices, Slices } from './slices.ts'

/** Longest error text (characters). Gap G11. */
const MESSAGE_CHARS_MAX = 300

const STRICT = /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:;|,|$)/i

/**
 * The body as `schema` reads it, in slices. Rejects with `invalid` for the first problem: its JSON path and what is wrong,
 * never the value (Gap G11). Unknown fields are dropped, or refused when the caller asked for strictness
 * with `Prefer: handling=strict` (Gap G17).
 */
export async function readBody<Body>(schema: z.ZodType<Body>, exchange: BodyExchange): Promise<Body> {
  const { body, giveWay } = exchange
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid({ path: [], message: 'must be a JSON object' })
  }
  const read = await inSlices(readInSlices(schema, body, new Slices()), giveWay)
  if ('problem' in read) throw invalid(read.problem)
  if (STRICT.test(exchange.header('prefer') ?? '')) {
    const ignored = firstIgnoredField(body, read.value)
    if (ignored !== undefined) throw invalid({ path: ignored, message: 'is not a known field' })
  }
  // True because what was read has no problem: it is what the schema makes of it.
  return read.value as Body
}

/** What is needed of a request to read its body. */
export type BodyExchange = Pick<Exchange, 'body' | 'giveWay' | 'header'>

/** The refusal of a body because of `problem`. Pure. */
export function invalid({ path, message }: Problem): ApiError {
  const where = path.length === 0 ? 'body' : formatPath(path)
  return new ApiError('invalid', `${where}: ${message}`.slice(0, MESSAGE_CHARS_MAX))
}
