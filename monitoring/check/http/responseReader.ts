import { ChunkedBody } from './chunkedBody.ts'
import { JoinedBytes } from './joinedBytes.ts'
import { type BodyFraming, bodyFraming, parseHead, type ResponseHead } from './responseHead.ts'

/** Maximum size of a response before its body, including interim responses (1xx) (bytes). */
export const HEAD_BYTES_MAX = 65_536

const NOTHING = Buffer.alloc(0)
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const START = 'HTTP/1.'
const BARE_LINE_FEED = /[^\r]\n/
const CR = 0x0d
const LF = 0x0a

/** The reason why the bytes of a connection are not a valid response. */
export type ReadFault = 'closed_early' | 'not_http' | 'headers_too_large'

/** Receives a response in this order: the head, parts of the body, and the end. A fault ends it. */
export interface ResponseListener {
  readonly onHead: (head: ResponseHead) => void
  readonly onBody: (bytes: Buffer) => void
  readonly onEnd: () => void
  readonly onFault: (fault: ReadFault) => void
}

/**
 * Reads one response from the bytes of a connection that carries no second one: connections are not reused, and bytes
 * after the response are ignored. Accepts the same responses as node:http, with the differences that the test names.
 * Keeps only the head.
 */
export class ResponseReader {
  readonly #listener: ResponseListener
  #state: 'head' | 'length' | 'chunked' | 'until close' | 'over' = 'head'
  #head = new JoinedBytes(HEAD_BYTES_MAX)
  #headBytes = 0
  #left = 0
  #chunks: ChunkedBody | undefined

  constructor(listener: ResponseListener) {
    this.#listener = listener
  }

  /** Takes the next bytes of the connection. */
  push(bytes: Buffer): void {
    if (this.#state === 'head') this.#pushHeads(bytes)
    else if (this.#state === 'length') this.#pushCounted(bytes)
    else if (this.#state === 'chunked') this.#pushChunks(bytes)
    else if (this.#state === 'until close') this.#listener.onBody(bytes)
  }

  /** Takes the end of the connection. */
  close(): void {
    if (this.#state === 'until close') this.#end()
    else if (this.#state !== 'over') this.#fail('closed_early')
  }

  #pushHeads(bytes: Buffer): void {
    // A loop, because thousands of interim responses may arrive together, and a call for each would fill the stack.
    for (let rest = bytes; rest.length > 0; ) rest = this.#pushHead(rest)
  }

  /** Takes bytes of one head. Returns those of the next one, which follows an interim response. */
  #pushHead(bytes: Buffer): Buffer {
    this.#headBytes += bytes.length
    const part = this.#head.length === 0 ? withoutEmptyLines(bytes) : bytes
    // The end may have begun in the previous bytes.
    const before = this.#head.all().subarray(-3)
    const searched = before.length === 0 ? part : Buffer.concat([before, part])
    const end = searched.indexOf(END_OF_HEAD)
    if (part.length > 0) this.#head.push(part)
    if (end !== -1) return this.#takeHead(part, end + END_OF_HEAD.length - before.length)
    if (this.#headBytes > HEAD_BYTES_MAX) this.#fail('headers_too_large')
    else if (this.#isNoHead(searched)) this.#fail('not_http')
    return NOTHING
  }

  /** Whether the bytes so far cannot become a head. Waiting for the end would turn a refusal into a timeout. */
  #isNoHead(searched: Buffer): boolean {
    const start = this.#head.all().toString('latin1', 0, START.length)
    return !START.startsWith(start) || BARE_LINE_FEED.test(searched.toString('latin1'))
  }

  /**
   * Takes the head that ends in `part`, the newest bytes, where the body starts at `bodyStart`. Returns the bytes after
   * an interim response.
   */
  #takeHead(part: Buffer, bodyStart: number): Buffer {
    const rest = part.subarray(bodyStart)
    const whole = this.#head.all()
    const text = whole.toString('latin1', 0, whole.length - rest.length - END_OF_HEAD.length)
    this.#head = new JoinedBytes(HEAD_BYTES_MAX)
    this.#headBytes -= rest.length
    if (this.#headBytes > HEAD_BYTES_MAX) {
      this.#fail('headers_too_large')
      return NOTHING
    }
    const head = parseHead(text)
    const framing = head === undefined ? undefined : bodyFraming(head)
    if (head === undefined || framing === undefined || head.status === 101) this.#fail('not_http')
    else if (head.status >= 200) this.#startBody(head, framing, rest)
    else return rest
    return NOTHING
  }

  #startBody(head: ResponseHead, framing: BodyFraming, rest: Buffer): void {
    this.#left = framing.kind === 'length' ? framing.bytes : 0
    const isEmpty = framing.kind === 'none' || (framing.kind === 'length' && this.#left === 0)
    if (framing.kind !== 'none') this.#state = framing.kind
    this.#listener.onHead(head)
    if (isEmpty) this.#end()
    else if (rest.length > 0) this.push(rest)
  }

  #pushCounted(bytes: Buffer): void {
    const part = bytes.subarray(0, this.#left)
    this.#left -= part.length
    this.#listener.onBody(part)
    if (this.#left === 0) this.#end()
  }

  #pushChunks(bytes: Buffer): void {
    this.#chunks ??= new ChunkedBody()
    const result = this.#chunks.push(bytes, this.#listener.onBody)
    if (result === 'end') this.#end()
    else if (result === 'fault') this.#fail('not_http')
  }

  #end(): void {
    this.#state = 'over'
    this.#listener.onEnd()
  }

  #fail(fault: ReadFault): void {
    this.#state = 'over'
    this.#listener.onFault(fault)
  }
}

/** Skips empty lines before a response, as every reader does. */
function withoutEmptyLines(bytes: Buffer): Buffer {
  let start = 0
  while (bytes[start] === CR || bytes[start] === LF) start += 1
  return start === 0 ? bytes : bytes.subarray(start)
}
