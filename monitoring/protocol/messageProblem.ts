import type * as z from 'zod'
import { formatPath } from '../../api/contract/problem.ts'
import { type SyncResponse, syncResponseSchema } from './messages.ts'

type Issue = z.core.$ZodIssue

/** Readable names of types. Other types keep their JSON name. */
const TYPES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  array: 'an array',
  tuple: 'an array',
  object: 'an object',
}

/** The first problem of a message, as `path: must be …`, without the value, which may be a secret. Pure. */
export function messageProblem(error: z.core.$ZodError): string {
  const [issue] = error.issues
  const path = (issue?.path ?? []).filter((step) => typeof step !== 'symbol')
  return `${formatPath(path) || 'body'}: ${issue === undefined ? 'is not valid' : textOf(issue)}`
}

function textOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? `a ${issue.expected}`}`
    case 'too_small':
      return `must ${boundOf(issue.origin)} ${issue.exact === true ? 'exactly' : 'at least'} ${issue.minimum}${unitOf(issue.origin)}`
    case 'too_big':
      return `must ${boundOf(issue.origin)} ${issue.exact === true ? 'exactly' : 'at most'} ${issue.maximum}${unitOf(issue.origin)}`
    case 'invalid_format':
      return `must be a ${issue.format === 'guid' ? 'UUID' : issue.format}`
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`
    case 'custom':
      return issue.message
    default:
      return 'has none of the forms that are allowed'
  }
}

function boundOf(origin: string): string {
  return unitOf(origin) === '' ? 'be' : 'have'
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters'
  return origin === 'array' ? ' items' : ''
}

/** Parses the response of a server. Throws with the problem when it is invalid. */
export function readSyncResponse(value: unknown): SyncResponse {
  const read = syncResponseSchema.safeParse(value)
  if (read.success) return read.data
  throw new Error(`the server's response is invalid: ${messageProblem(read.error)}`)
}
