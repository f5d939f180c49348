import type { IncomingMessage } from 'node:http'
import { BODY_BYTES_MAX } from './jsonBody.ts'

/** What is dropped of a body before its sender is cut off: a whole one, and what a socket holds at once (bytes). */
const DROPPED_BYTES_MAX = BODY_BYTES_MAX + 64 * 1_024

/**
 * Reads and drops what comes of the body of a request whose answer does not wait for it, so that the sender
 * can finish, and ends the connection when that is more than a body may be: Node would go on reading for as
 * long as a request may take. Gap G13.
 */
export function dropBody(request: IncomingMessage): void {
  if (request.complete) return
  let droppedBytes = 0
  request.on('data', (chunk: Buffer) => {
    droppedBytes += chunk.length
    // Not at the first byte too many: a sender that has just finished may use its connection again.
    if (droppedBytes > DROPPED_BYTES_MAX) request.socket.destroy()
  })
}

/** Whether `request` has a body although its method gives it no meaning, which no length announces. Pure. */
export function hasIdleBody({ method, headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && headers['transfer-encoding'] !== undefined
}
