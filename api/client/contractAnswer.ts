import type { z } from 'zod'
import { formatPath, problemsOf } from '../contract/problem.ts'
import type { Answer } from './attempt.ts'

/** An answer that is not the contract's: another server's, a page of something in between, or a newer API's. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer'
}

/** The answer's body as `schema` reads it. Throws UnreadableAnswer that names the first field that is not the contract's. */
export function readAnswer<T>(schema: z.ZodType<T>, answer: Answer): T {
  const parsed = schema.safeParse(answer.json)
  if (parsed.success) return parsed.data
  throw new UnreadableAnswer(`the server's answer is not the contract's: ${firstProblem(parsed.error)}`)
}

/** The first thing that is wrong, with its place and without its value. Pure. */
export function firstProblem(error: z.core.$ZodError): string {
  const [problem] = problemsOf(error)
  if (problem === undefined) return 'no reason given'
  return `${formatPath(problem.path) || 'the body'} ${problem.message}`
}
