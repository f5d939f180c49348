import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../../../scripts/testing/torture.ts'
import { generatedResponse } from '../testing/generatedResponse.ts'
import { compareReaders, NAMED_DIFFERENCES } from '../testing/namedDifferences.ts'
import { readOwn } from '../testing/readResponse.ts'
import { HEAD_BYTES_MAX, type ReadFault, ResponseReader } from './responseReader.ts'

/** The fault in `pieces`, after which the connection is closed unless it is `open`. */
function faultOf(
  pieces: readonly string[],
  end: 'closed' | 'open' = 'closed',
): ReadFault | 'waiting' | 'whole' {
  let result: ReadFault | 'waiting' | 'whole' = 'waiting'
  const reader = new ResponseReader({
    onHead: () => {},
    onBody: () => {},
    onEnd: () => {
      result = 'whole'
    },
    onFault: (fault) => {
      result = fault
    },
  })
  for (const piece of pieces) reader.push(Buffer.from(piece, 'latin1'))
  if (end === 'closed') reader.close()
  return result
}

test('3,000 generated responses are read as node:http reads them, except for the listed differences', async () => {
  const { whole, unnamed } = await compareReaders(0, 3_000)

  expect({ unnamed, isMostlyWhole: whole > 1_000 }).toEqual({ unnamed: [], isMostlyWhole: true })
  expect(NAMED_DIFFERENCES.length).toBeLessThanOrEqual(20)
})

test('a response is read the same way however it is split into pieces', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000 }), (seed) => {
      const { bytes, pieces } = generatedResponse(seed)
      const oneByOne = [...bytes].map((byte) => Buffer.from([byte]))
      const { reading } = readOwn([bytes])
      expect(readOwn(pieces).reading).toEqual(reading)
      expect(readOwn(oneByOne).reading).toEqual(reading)
    }),
    { numRuns: cases(100, 300) },
  )
})

test.each<[string, readonly string[], ReadFault]>([
  ['nothing', [], 'closed_early'],
  ['half a head', ['HTTP/1.1 200 OK\r\nServ'], 'closed_early'],
  ['half a body', ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'], 'closed_early'],
  [
    'chunks without a last one',
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n'],
    'closed_early',
  ],
  ['two lengths', ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'], 'not_http'],
  [
    'a length and chunks',
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    'not_http',
  ],
  [
    'a chunk of 2³² and more digits',
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n'],
    'not_http',
  ],
  ['a long head', ['HTTP/1.1 200 OK\r\n', `A: ${'a'.repeat(HEAD_BYTES_MAX)}\r\n\r\n`], 'headers_too_large'],
  [
    'endless interim responses',
    Array<string>(4_000).fill('HTTP/1.1 100 Continue\r\n\r\n'),
    'headers_too_large',
  ],
  [
    'endless interim responses in one piece',
    ['HTTP/1.1 100\r\n\r\n'.repeat(HEAD_BYTES_MAX / 16), 'HTTP/1.1 100\r\n\r\n'],
    'headers_too_large',
  ],
  ['endless empty lines', Array<string>(70).fill('\r\n'.repeat(500)), 'headers_too_large'],
])('%s end as %s: %s', (_name, pieces, fault) => {
  expect(faultOf(pieces)).toBe(fault)
})

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['line feeds alone', 'HTTP/1.1 200 OK\nServer: a\n\n'],
])('%s is refused at once as not HTTP, although the server keeps the connection open', (_name, bytes) => {
  expect(faultOf([bytes], 'open')).toBe('not_http')
  expect(faultOf([...bytes], 'open')).toBe('not_http')
})

test('the length of trailers is limited', () => {
  const chunks = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n'
  expect(faultOf([chunks, ...Array<string>(9_000).fill('A: bbbbb\r\n')], 'open')).toBe('not_http')
  expect(faultOf([chunks, 'A: b\r\n\r\n'], 'open')).toBe('whole')
})
