import { type SeededRandom, seededRandom } from './seededRandom.ts'

/** A response that a server might send over one connection, and the pieces in which it arrives. */
export interface GeneratedResponse {
  readonly bytes: Buffer
  readonly pieces: readonly Buffer[]
}

const ODD_STATUS_LINES = [
  'HTTP/1.1 200',
  'HTTP/1.1 200 ',
  'HTTP/1.0 200 OK',
  'HTTP/0.9 200 OK',
  'HTTP/2.0 200 OK',
  'HTTP/1.2 200 OK',
  'http/1.1 200 OK',
  'HTTP/1.1  200 OK',
  'HTTP/1.1 099 OK',
  'HTTP/1.1 1000 OK',
  'HTTP/1.1 200OK',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304 Not Modified',
  'HTTP/1.1 205 Reset Content',
  'HTTP/1.1 101 Switching Protocols',
  'RTSP/1.0 200 OK',
  'ICY 200 OK',
  '<html>',
] as const
const FRAMING_HEADERS = [
  'Content-Length: 0',
  'Content-Length: 00012',
  'Content-Length: +12',
  'Content-Length: 12, 12',
  'Content-Length:\t12',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, gzip',
  'Transfer-Encoding: CHUNKED',
  'Transfer-Encoding:',
  'Transfer-Encoding: chunked',
] as const
const HEADERS = [
  'Content-Type: text/html; charset=utf-8',
  'Server: nginx',
  'Set-Cookie: a=b; Path=/',
  'Set-Cookie: c=d',
  'X-Empty:',
  'x-blanks: \t  blanks around \t ',
  'X-Bytes: caf\u00e9 \u00a0',
  'Connection: close',
  'Connection: keep-alive',
  'Upgrade: h2c',
  "!#$%&'*+-.^_`|~: every character of a name",
] as const
const ODD_HEADERS = [
  'X-Folded: one\r\n two',
  ' X-Indented: a',
  'X-Blank : a',
  'X-No-Colon',
  ': no name',
  'X-Control: a\u0001b',
  'X-Return: a\rb',
  'X-Nul: a\0b',
  'X\u00e9: a',
  'X-Delete: a\u007fb',
] as const
const INTERIM = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
  'HTTP/1.1 199 Odd\r\n\r\n',
] as const
const ODD_SIZES = [
  '',
  ' 5',
  '0x5',
  '-5',
  '5 ',
  'FFFFFFFFFFFFFFFFF',
  '00000000000000005',
  '5;',
  '5;a=b',
  '5 ;a',
] as const
const ODD_BYTES = [0, 1, 9, 10, 13, 32, 48, 58, 59, 127, 128, 255] as const

/** The response for `seed`. Most are valid, some are unusual, and a third are damaged. */
export function generatedResponse(seed: number): GeneratedResponse {
  const random = seededRandom(seed)
  const text = `${preamble(random)}${head(random)}`
  const whole = Buffer.from(text, 'latin1')
  const bytes = random.isLikely(33) ? damaged(whole, random) : whole
  return { bytes, pieces: pieces(bytes, random) }
}

function preamble(random: SeededRandom): string {
  const empty = random.isLikely(5) ? random.oneOf(['\r\n', '\n', '\r\n\r\n']) : ''
  let interim = ''
  while (random.isLikely(8)) interim += random.oneOf(INTERIM)
  return `${empty}${interim}`
}

function head(random: SeededRandom): string {
  const status = random.oneOf([200, 200, 200, 301, 404, 500, 503])
  const statusLine = random.isLikely(12)
    ? random.oneOf(ODD_STATUS_LINES)
    : `HTTP/1.1 ${status} ${random.oneOf(['OK', 'Found it', '', 'caf\u00e9'])}`
  const headers: string[] = []
  for (let count = random.below(6); count > 0; count -= 1) headers.push(random.oneOf(HEADERS))
  if (random.isLikely(6)) headers.push(random.oneOf(ODD_HEADERS))
  const body = bodyText(random)
  const framing = random.below(100)
  let sent = body
  if (framing < 35) headers.splice(random.below(headers.length + 1), 0, `Content-Length: ${body.length}`)
  else if (framing < 70) {
    headers.splice(random.below(headers.length + 1), 0, 'Transfer-Encoding: chunked')
    sent = chunked(body, random)
  } else if (framing < 85) headers.push(random.oneOf(FRAMING_HEADERS))
  if (random.isLikely(4)) headers.push(random.oneOf(FRAMING_HEADERS))
  if (random.isLikely(5)) sent += bodyText(random)
  return `${[statusLine, ...headers].join('\r\n')}\r\n\r\n${sent}`
}

function bodyText(random: SeededRandom): string {
  return random
    .oneOf(['ok', '', '{"status":"ok"}', 'line\r\nline\r\n\r\n', 'x'])
    .repeat(random.oneOf([1, 1, 1, 7, 700]))
}

function chunked(body: string, random: SeededRandom): string {
  let text = ''
  for (let at = 0; at < body.length; ) {
    const part = body.slice(at, at + 1 + random.below(body.length))
    at += part.length
    const size = random.isLikely(2) ? random.oneOf(ODD_SIZES) : part.length.toString(16)
    text += `${size}${random.isLikely(4) ? ';name="value"' : ''}\r\n${part}\r\n`
  }
  const trailer = random.isLikely(8)
    ? `${random.oneOf([...HEADERS, ...ODD_HEADERS, ...FRAMING_HEADERS])}\r\n`
    : ''
  return `${text}0\r\n${trailer}\r\n`
}

function damaged(bytes: Buffer, random: SeededRandom): Buffer {
  let result = bytes
  for (let times = 1 + random.below(3); times > 0; times -= 1) {
    const at = random.below(result.length + 1)
    const to = Math.min(result.length, at + 1 + random.below(8))
    const odd = Buffer.from([random.oneOf(ODD_BYTES)])
    const [before, removed, after] = [result.subarray(0, at), result.subarray(at, to), result.subarray(to)]
    result = random.oneOf<() => Buffer>([
      () => before,
      () => Buffer.concat([before, after]),
      () => Buffer.concat([before, removed, removed, after]),
      () => Buffer.concat([before, odd, removed, after]),
      () => Buffer.concat([before, odd, removed.subarray(1), after]),
      () =>
        Buffer.from(
          result.toString('latin1').replace('\r\n', random.oneOf(['\n', '\r', '\r\r\n'])),
          'latin1',
        ),
    ])()
  }
  return result
}

function pieces(bytes: Buffer, random: SeededRandom): readonly Buffer[] {
  if (random.isLikely(50)) return [bytes]
  const sizeMax = random.oneOf([1, 3, 20, 200])
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const part = bytes.subarray(at, at + 1 + random.below(sizeMax))
    parts.push(part)
    at += part.length
  }
  return parts
}
