import { parentPort } from 'node:worker_threads'
import { compileRegex } from './textMatcher.ts'

/** Compiled programs that are kept: all of them are dropped at once, because a dropped one costs a compilation. */
const PROGRAMS_MAX = 5_000

/** What the thread is asked: whether `pattern` is found in `text`. Its answer is true or false. */
export interface MatchRequest {
  readonly pattern: string
  readonly text: string
}

const programs = new Map<string, ReturnType<typeof compileRegex>>()

function isFound({ pattern, text }: MatchRequest): boolean {
  if (programs.size >= PROGRAMS_MAX) programs.clear()
  const program = programs.get(pattern) ?? compileRegex(pattern)
  programs.set(pattern, program)
  return program?.isIn(text) === true
}

parentPort?.on('message', (request: MatchRequest) => parentPort?.postMessage(isFound(request)))
parentPort?.postMessage('ready')
