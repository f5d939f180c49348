import type * as z from 'zod'
import { formatPath, problemsOf } from '../../api/contract/problem.ts'
import { type SyncResponse, syncResponseSchema } from './messages.ts'

/** The first problem of a message, as `path: must be …`, without the value, which may be a secret. Pure. */
export function messageProblem(error: z.core.$ZodError): string {
  const [problem] = problemsOf(error)
  return problem === undefined
    ? 'body: is not valid'
    : `${formatPath(problem.path) || 'body'}: ${problem.message}`
}

/** Parses the response of a server. Throws with the problem when it is invalid. */
export function readSyncResponse(value: unknown): SyncResponse {
  const read = syncResponseSchema.safeParse(value)
  if (read.success) return read.data
  throw new Error(`the server's response is invalid: ${messageProblem(read.error)}`)
}
