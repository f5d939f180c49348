import { parentPort } from 'node:worker_threads'
import { compileRegex } from './textMatcher.ts'

/** A request to the thread: whether `pattern` matches in `text`. The reply is true or false. */
export interface MatchRequest {
  readonly pattern: string
  readonly text: string
}

parentPort?.on('message', ({ pattern, text }: MatchRequest) =>
  parentPort?.postMessage(compileRegex(pattern)?.isIn(text) === true),
)
parentPort?.postMessage('ready')
