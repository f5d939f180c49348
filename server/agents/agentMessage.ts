import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { ApiError } from '../../api/contract/apiError.ts'
import {
  COMPRESSED_BYTES_MIN,
  PROTOCOLS_UNDERSTOOD,
  REQUEST_BYTES_MAX,
} from '../../monitoring/protocol/messages.ts'

const gunzipped = promisify(gunzip)
const gzipped = promisify(gzip)

/** Size from which a body counts as long (bytes); only a few are read at a time. */
const LONG_BODY_BYTES = 64 * 1_024
/** Long bodies read at a time. */
const LONG_BODIES_MAX = 8

/** The agent speaks a protocol version that this server does not support. */
export class ProtocolError extends Error {}

/** Reads the bodies of agents, with a limited number of long ones at a time. */
export class MessageReader {
  #longBodies = 0

  /**
   * The body of `request` as JSON. Rejects with `too_large`, `unsupported_media_type`, `rate_limited` while too many
   * long bodies are read, `invalid` for other text than JSON, and ProtocolError.
   */
  async read(request: IncomingMessage): Promise<unknown> {
    const announced = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY)
    if (Number.isFinite(announced) && announced > REQUEST_BYTES_MAX) throw tooLarge()
    const isLong = announced > LONG_BODY_BYTES
    if (!isLong) return this.#parse(request)
    if (this.#longBodies >= LONG_BODIES_MAX)
      throw new ApiError('rate_limited', 'too many long messages are being read')
    this.#longBodies += 1
    try {
      return await this.#parse(request)
    } finally {
      this.#longBodies -= 1
    }
  }

  async #parse(request: IncomingMessage): Promise<unknown> {
    const bytes = await bytesOf(request)
    const text = (await decoded(bytes, request.headers['content-encoding'])).toString()
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      // The parser's message would quote the body.
      throw new ApiError('invalid', 'body: is not valid JSON')
    }
    assertProtocol(value)
    return value
  }
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > REQUEST_BYTES_MAX) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function decoded(bytes: Buffer, encoding = 'identity'): Promise<Buffer> {
  if (encoding === 'identity') return bytes
  if (encoding !== 'gzip') throw new ApiError('unsupported_media_type', 'content-encoding must be gzip')
  try {
    return await gunzipped(bytes, { maxOutputLength: REQUEST_BYTES_MAX })
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge()
    throw new ApiError('invalid', 'body: is not gzip')
  }
}

function tooLarge(): ApiError {
  return new ApiError(
    'too_large',
    `a message may have at most ${REQUEST_BYTES_MAX} bytes, also after decompression`,
  )
}

function assertProtocol(value: unknown): void {
  const protocol =
    typeof value === 'object' && value !== null && 'protocol' in value ? value.protocol : undefined
  if (typeof protocol !== 'number') throw new ApiError('invalid', 'protocol: must be a number')
  if (PROTOCOLS_UNDERSTOOD.includes(protocol)) return
  const newest = Math.max(...PROTOCOLS_UNDERSTOOD)
  const older = protocol > newest ? 'upgrade the server first' : 'upgrade the agent'
  throw new ProtocolError(
    `the agent speaks protocol ${protocol}, this server ${PROTOCOLS_UNDERSTOOD.join(', ')}: ${older}`,
  )
}

/** Sends `value` as JSON, compressed if it is long and the agent accepts that. */
export async function sendJson(
  response: ServerResponse,
  {
    status,
    value,
    headers = {},
  }: { status: number; value: unknown; headers?: Readonly<Record<string, string>> },
): Promise<void> {
  const plain = Buffer.from(JSON.stringify(value))
  const isCompressed =
    plain.length >= COMPRESSED_BYTES_MIN &&
    /\bgzip\b/.test(String(response.req.headers['accept-encoding'] ?? ''))
  const bytes = isCompressed ? await gzipped(plain, { level: 1 }) : plain
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
    'cache-control': 'no-store',
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    ...headers,
  })
  response.end(bytes)
}
