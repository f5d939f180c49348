import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../../api/contract/apiError.ts'
import { BODY_BYTES_MAX } from './jsonBody.ts'

/**
 * Bytes of a body that are read and dropped before its sender is disconnected: a whole body and one read of a socket.
 */
const DROPPED_BYTES_MAX = BODY_BYTES_MAX + 64 * 1_024

/**
 * Reads and drops the body of a request whose answer does not need it, so that the sender can finish, and closes the
 * connection after more than the limit: Node would read on for the whole request timeout. Gap G13.
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

/**
 * Whether the rest of the body of `request`, which is answered with `status`, exceeds the amount that is dropped.
 * Chunks do not announce their length: they count as too many only when they are. Gap G13. Pure.
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
