/** The gRPC statuses that a plugin uses. */
export const STATUS = {
  ok: 0,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
} as const

/** A response without a result: `code` is one of STATUS, and the message is for the caller. */
export class GrpcError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Node ends a session whose headers are longer than 64 KiB; a character becomes up to 9 bytes. */
const MESSAGE_CHARS_MAX = 4_096

/** The trailers with `code` and the message, cut after 4,096 characters. Pure. */
export function statusTrailers(code: number, message = ''): { readonly [name: string]: string } {
  if (message === '') return { 'grpc-status': String(code) }
  // Converted to bytes first, because a lone surrogate cannot be percent-encoded.
  const text = Buffer.from(message.slice(0, MESSAGE_CHARS_MAX)).toString()
  const encoded = text.replaceAll(/[^ -$&-~]+/g, encodeURIComponent)
  return { 'grpc-status': String(code), 'grpc-message': encoded }
}
