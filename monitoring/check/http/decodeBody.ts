import { promisify, TextDecoder } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import type { AttemptClock } from '../outcome/attemptClock.ts'
import { CheckFault } from '../outcome/reason.ts'
import { headerValues, type ResponseHead } from './responseHead.ts'

type Decoder = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  // Some servers omit the zlib frame that the standard requires.
  deflate: (bytes, options) => promisify(isFramed(bytes) ? inflate : inflateRaw)(bytes, options),
  br: promisify(brotliDecompress),
}
const ZLIB_METHOD = 8

function isFramed(bytes: Buffer): boolean {
  return ((bytes[0] ?? 0) & 0x0f) === ZLIB_METHOD
}

/** The body `bytes` of a response with `head`, decoded, with at most `bytesMax` bytes. Rejects with CheckFault. */
export async function decodedBody(
  bytes: Buffer,
  head: ResponseHead,
  bytesMax: number,
  clock: AttemptClock,
): Promise<Buffer> {
  const coding = headerValues(head, 'content-encoding').join(',').trim().toLowerCase()
  if (coding === '' || coding === 'identity' || bytes.length === 0) return bytes
  const decode = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
  if (decode === undefined) throw new CheckFault('body_encoding', 'the body has an unknown content coding')
  return clock.wait('body', (resolve, reject) => {
    decode(bytes, { maxOutputLength: bytesMax }).then(resolve, (error: NodeJS.ErrnoException) => {
      const isTooLarge = error.code === 'ERR_BUFFER_TOO_LARGE'
      reject(
        isTooLarge ? bodyTooLarge(bytesMax) : new CheckFault('body_encoding', `the body is not ${coding}`),
      )
    })
    return () => {}
  })
}

/** The fault of a body that has more than `bytesMax` bytes after decoding. */
export function bodyTooLarge(bytesMax: number): CheckFault {
  return new CheckFault('body_too_large', `the body has more than ${bytesMax.toLocaleString('en')} bytes`)
}

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}/
const decoders = new Map<string, TextDecoder>()

/**
 * Text and media type of a body, decoded by its declared charset, or by UTF-8 when that is unknown. Malformed bytes are
 * replaced.
 */
export function bodyText(
  bytes: Buffer,
  head: ResponseHead,
): { readonly text: string; readonly mediaType: string } {
  const [type = ''] = headerValues(head, 'content-type')
  const label = CHARSET.exec(type)?.[1]?.toLowerCase() ?? 'utf-8'
  return { text: decoderOf(label).decode(bytes), mediaType: MEDIA_TYPE.exec(type)?.[0].toLowerCase() ?? '' }
}

/** The number of decoders is limited, because charset names are a fixed list. */
function decoderOf(label: string): TextDecoder {
  const known = decoders.get(label)
  if (known !== undefined) return known
  try {
    const decoder = new TextDecoder(label)
    decoders.set(label, decoder)
    return decoder
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return decoderOf('utf-8')
  }
}
