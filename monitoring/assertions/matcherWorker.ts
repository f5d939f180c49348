import { parentPort } from 'node:worker_threads'
import { regexOf } from './textMatcher.ts'

/**
 * A request to the thread: whether `pattern` matches in `text`. The reply is true or false, or `undefined` when it is
 * not RE2 syntax.
 */
export interface MatchRequest {
  readonly pattern: string
  readonly text: string
}

parentPort?.on('message', ({ pattern, text }: MatchRequest) =>
  parentPort?.postMessage(regexOf(pattern)?.isIn(text)),
)
parentPort?.postMessage('ready')
