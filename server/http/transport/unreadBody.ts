import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../../api/contract/apiError.ts'
import { BODY_BYTES_MAX } from './jsonBody.ts'

/**
 * Bytes of a body that are read and dropped before its sender is disconnected: a whole body, and one read of the
 * socket.
 */
const DROPPED_BYTES_MAX = BODY_BYTES_MAX + 64 * 1_024

/**
 * Reads and drops the body of a request whose response does not need it, so that the sender can finish. Closes the
 * connection after more than the limit, because Node would read for the whole request timeout. Gap G13.
 */
export function dropBody(request: IncomingMessage): void {
  if (request.complete) return
  let droppedBytes = 0
  request.on('data', (chunk: Buffer) => {
    droppedBytes += chunk.length
    // Not closed at the first byte beyond the limit, because a sender that has just finished may reuse its connection.
    if (droppedBytes > DROPPED_BYTES_MAX) request.socket.destroy()
  })
}

/**
 * Whether the rest of the body of `request`, whose response has `status`, exceeds the amount that is dropped. A
 * chunked body does not announce its length, so it counts as too long only once it is. Gap G13. Pure.
 */
export function willBeCut({ complete, headers }: IncomingMessage, status: number): boolean {
  if (complete) return false
  const announced = headers['content-length']
  return announced === undefined ? status === TOO_LARGE : Number(announced) > DROPPED_BYTES_MAX
}

const TOO_LARGE = new ApiError('too_large', '').status

/** Whether `request` has a chunked body although its method gives it no meaning. Pure. */
export function hasIdleBody({ method, headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && headers['transfer-encoding'] !== undefined
}
