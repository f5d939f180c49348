import { parentPort } from 'node:worker_threads'
import { compileRegex } from './textMatcher.ts'

/** What the thread is asked: whether `pattern` is found in `text`. Its answer is true or false. */
export interface MatchRequest {
  readonly pattern: string
  readonly text: string
}

parentPort?.on('message', ({ pattern, text }: MatchRequest) =>
  parentPort?.postMessage(compileRegex(pattern)?.isIn(text) === true),
)
parentPort?.postMessage('ready')
