/** Assembles header blocks from HEADERS and CONTINUATION (RFC 9113, 6.2 and 6.10). */
import { ConnectionError, ERROR } from './errors.ts'
import { FLAG, FRAME_HEADER_BYTES, type Frame, TYPE, withoutPadding } from './frames.ts'
import { HEADERS_BYTES_MAX } from './settings.ts'

/** A stream's dependency and its weight, which are ignored. */
const PRIORITY_BYTES = 5

/** A complete block of a stream, as it was encoded. */
export interface HeaderBlock {
  readonly streamId: number
  /** Whether the stream ends with it. */
  readonly isEnd: boolean
  readonly block: Buffer
}

interface OpenBlock extends Omit<HeaderBlock, 'block'> {
  readonly parts: Buffer[]
  bytes: number
}

export class HeaderBlocks {
  #open: OpenBlock | undefined

  /** Throws a ConnectionError when a frame of `type` on `streamId` interrupts a block. */
  checkOrder({ type, streamId }: Frame): void {
    const isExpected =
      this.#open === undefined
        ? type !== TYPE.continuation
        : type === TYPE.continuation && streamId === this.#open.streamId
    if (!isExpected) throw new ConnectionError(ERROR.protocol, 'a header block is interrupted')
  }

  /** Adds HEADERS or CONTINUATION. Returns the block when it is complete. Throws a ConnectionError for an invalid or a long one. */
  add(frame: Frame): HeaderBlock | undefined {
    const { streamId, flags } = frame
    this.#open ??= { streamId, isEnd: (flags & FLAG.endStream) !== 0, parts: [], bytes: 0 }
    const open = this.#open
    const part = frame.type === TYPE.headers ? fragmentOf(frame) : frame.payload
    open.parts.push(part)
    // The frames' headers count, because empty frames would never end otherwise.
    open.bytes += FRAME_HEADER_BYTES + part.length
    if (open.bytes > HEADERS_BYTES_MAX) {
      throw new ConnectionError(ERROR.enhanceYourCalm, `headers exceed ${HEADERS_BYTES_MAX} bytes`)
    }
    if ((flags & FLAG.endHeaders) === 0) return undefined
    this.#open = undefined
    return { streamId: open.streamId, isEnd: open.isEnd, block: Buffer.concat(open.parts) }
  }
}

function fragmentOf(frame: Frame): Buffer {
  const payload = withoutPadding(frame)
  if ((frame.flags & FLAG.priority) === 0) return payload
  if (payload.length < PRIORITY_BYTES) throw new ConnectionError(ERROR.frameSize, 'a priority is cut off')
  return payload.subarray(PRIORITY_BYTES)
}
