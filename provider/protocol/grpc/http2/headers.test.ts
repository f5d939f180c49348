import { expect, test } from 'vitest'
import { ConnectionError, ERROR } from './errors.ts'
import { HeaderDecoder } from './headerDecoder.ts'
import { decodeHuffman } from './huffman.ts'

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex')
/** A change of the table's size to 256 bytes. */
const SIZE_256 = bytes('3fe101')

/** The error of decoding `hex` after `before`. */
function errorOf(hex: string, before: readonly string[] = []): unknown {
  const decoder = new HeaderDecoder()
  for (const block of before) decoder.decode(bytes(block))
  try {
    return decoder.decode(bytes(hex))
  } catch (error) {
    return error instanceof ConnectionError ? [error.code, error.message] : error
  }
}

test.each([
  [
    'C.2.1',
    '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
    'custom-key',
    'custom-header',
  ],
  ['C.2.2', '040c 2f73 616d 706c 652f 7061 7468', ':path', '/sample/path'],
  ['C.2.3', '1008 7061 7373 776f 7264 0673 6563 7265 74', 'password', 'secret'],
  ['C.2.4', '82', ':method', 'GET'],
])('a header is read in each representation: RFC 7541, %s', (_part, hex, name, value) => {
  expect(new HeaderDecoder().decode(bytes(hex))).toEqual([[name, value]])
})

const REQUESTS = [
  [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
  ],
  [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
    ['cache-control', 'no-cache'],
  ],
  [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', '/index.html'],
    [':authority', 'www.example.com'],
    ['custom-key', 'custom-value'],
  ],
]

test.each([
  [
    'C.3, as they are',
    [
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '8286 84be 5808 6e6f 2d63 6163 6865',
      '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
    ],
  ],
  [
    'C.4, with the Huffman code',
    [
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      '8286 84be 5886 a8eb 1064 9cbf',
      '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
    ],
  ],
])('requests refer to headers of earlier ones: RFC 7541, %s', (_part, blocks) => {
  const decoder = new HeaderDecoder()

  expect(blocks.map((hex) => decoder.decode(bytes(hex)))).toEqual(REQUESTS)
})

const COOKIE = 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'
const LOCATION = ['location', 'https://www.example.com']

test.each([
  [
    'C.5, as they are',
    [
      '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '4803 3330 37c1 c0bf',
      '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
    ],
  ],
  [
    'C.6, with the Huffman code',
    [
      '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
      '4883 640e ffc1 c0bf',
      '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
    ],
  ],
])('a small table loses its oldest headers: RFC 7541, %s', (_part, blocks) => {
  const decoder = new HeaderDecoder()
  decoder.decode(SIZE_256)

  expect(blocks.map((hex) => decoder.decode(bytes(hex)))).toEqual([
    [[':status', '302'], ['cache-control', 'private'], ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'], LOCATION],
    [[':status', '307'], ['cache-control', 'private'], ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'], LOCATION],
    [
      [':status', '200'],
      ['cache-control', 'private'],
      ['date', 'Mon, 21 Oct 2013 20:13:22 GMT'],
      LOCATION,
      ['content-encoding', 'gzip'],
      ['set-cookie', COOKIE],
    ],
  ])
})

test('the table can be emptied and enlarged again at the start of a block', () => {
  const decoder = new HeaderDecoder()
  const added = '4001 6101 62'

  expect(decoder.decode(bytes(`20 3fe11f ${added} be`))).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
  expect(decoder.decode(bytes('20'))).toEqual([])
  expect(() => decoder.decode(bytes('be'))).toThrow('there is no header 62')
})

test('a header counts for 32 bytes more than it has, and one that is larger than the table empties it', () => {
  const added = '4001 6101 62'
  const [fitting, small] = [new HeaderDecoder(), new HeaderDecoder()]

  // Tables of 34 and of 33 bytes.
  fitting.decode(bytes(`3f03 ${added}`))
  small.decode(bytes(`3f02 ${added}`))

  expect(fitting.decode(bytes('be'))).toEqual([['a', 'b']])
  expect(() => small.decode(bytes('be'))).toThrow('there is no header 62')
})

test.each([
  ['80', 'there is no header 0'],
  ['be', 'there is no header 62'],
  ['7f 00', 'there is no header 63'],
  ['40', 'a header is cut off'],
  ['00 05 61', 'a string is cut off'],
  ['00 01 61', 'a header is cut off'],
  ['ff', 'a header is cut off'],
  ['ff 80 80 80 01', 'a number is too large'],
  ['ff ff ff ff ff ff ff ff ff 7f', 'a number is too large'],
  ['3f e2 1f', 'the table cannot have 4097 bytes here'],
  ['82 20', 'the table cannot have 0 bytes here'],
  // The end of a string, and paddings of eight bits and of zeros.
  ['00 84 ffff ffff 00', 'a Huffman code is invalid'],
  ['00 82 1fff 00', 'a Huffman code is invalid'],
  ['00 81 18 00', 'a Huffman code is invalid'],
])('the invalid block %s is refused', (hex, message) => {
  expect(errorOf(hex)).toEqual([ERROR.compression, message])
})

test('headers that a short block makes long are refused', () => {
  const value = 'ab'.repeat(4_000)
  const long = `4001 61 7f a11e ${value}`

  expect(errorOf('be'.repeat(20), [long])).toEqual([ERROR.enhanceYourCalm, 'headers exceed 65536 bytes'])
})

test('an empty string is one in the Huffman code too', () => {
  expect(decodeHuffman(Buffer.alloc(0))).toEqual(Buffer.alloc(0))
})
