import { expect, test } from 'vitest'
import { responsesAfterFlush } from './flushOrder.ts'

const WRITE = '7 pwrite64(21</data/pharos.db-wal>, "..."..., 4096, 32) = 4096'
const FLUSH = '7 fdatasync(21</data/pharos.db-wal>) = 0'
const RESPONSE =
  '7 writev(25<socket:[1]>, [{iov_base="HTTP/1.1 201 Created\\r\\nx-req"..., iov_len=9}], 1) = 9'

test('a trace in which every response follows a flush counts its responses', () => {
  expect(
    responsesAfterFlush([WRITE, WRITE, FLUSH, RESPONSE, RESPONSE, WRITE, FLUSH, RESPONSE].join('\n')),
  ).toBe(3)
})

test('a response between a write of the log and its flush is detected', () => {
  expect(() => responsesAfterFlush([WRITE, FLUSH, RESPONSE, WRITE, RESPONSE].join('\n'))).toThrow(
    'responded before a flush',
  )
})

test('a flush that another thread interrupted counts when it ends, and not before', () => {
  const begun = '7 fdatasync(21</data/pharos.db-wal> <unfinished ...>'
  const ended = '7 <... fdatasync resumed>) = 0'

  expect(responsesAfterFlush([WRITE, begun, ended, RESPONSE].join('\n'))).toBe(1)
  expect(() => responsesAfterFlush([WRITE, begun, RESPONSE, ended].join('\n'))).toThrow('responded before')
})
