import type { z } from 'zod'
import { firstIgnoredField } from '../../../api/contract/problem.ts'
import { invalidBody } from '../transport/invalidBody.ts'
import { inSlices, Slices } from '../transport/slices.ts'
import type { Exchange } from './operation.ts'
import { readInSlices } from './schemaRead.ts'

const STRICT = /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:;|,|$)/i

/**
 * The body parsed with `schema`, in slices. Rejects with `invalid` for the first problem, with its JSON path and the
 * broken rule, never the value (Gap G11). Unknown fields are dropped, or refused with `Prefer: handling=strict` (Gap
 * G17).
 */
export async function readBody<Body>(schema: z.ZodType<Body>, exchange: BodyExchange): Promise<Body> {
  const { body, yieldTurn } = exchange
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidBody({ path: [], message: 'must be a JSON object' })
  }
  const read = await inSlices(readInSlices(schema, body, new Slices()), yieldTurn)
  if ('problem' in read) throw invalidBody(read.problem)
  if (STRICT.test(exchange.header('prefer') ?? '')) {
    const ignored = firstIgnoredField(body, read.value)
    if (ignored !== undefined) throw invalidBody({ path: ignored, message: 'is not a known field' })
  }
  // True because a value without a problem is the schema's output.
  return read.value as Body
}

/** The parts of a request that reading its body needs. */
export type BodyExchange = Pick<Exchange, 'body' | 'yieldTurn' | 'header'>
