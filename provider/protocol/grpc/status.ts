/** Statuses of gRPC, as far as a plugin answers with them. */
export const STATUS = {
  ok: 0,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
} as const

/** An answer without a result: `code` is one of STATUS, and the message is for the caller. */
export class GrpcError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Node ends a session whose headers are longer than 64 KiB; a character becomes up to 9 bytes. */
const MESSAGE_CHARS_MAX = 4_096

/** The trailers that say `code`, and why. A message is cut after 4,096 characters. Pure. */
export function statusTrailers(code: number, message = ''): { readonly [name: string]: string } {
  if (message === '') return { 'grpc-status': String(code) }
  // By way of bytes: half of a surrogate pair cannot be encoded.
  const text = Buffer.from(message.slice(0, MESSAGE_CHARS_MAX)).toString()
  const encoded = text.replaceAll(/[^ -$&-~]+/g, encodeURIComponent)
  return { 'grpc-status': String(code), 'grpc-message': encoded }
}
