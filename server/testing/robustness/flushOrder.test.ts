import { expect, test } from 'vitest'
import { answersAfterFlush } from './flushOrder.ts'

const WRITE = '7 pwrite64(21</data/pharos.db-wal>, "..."..., 4096, 32) = 4096'
const FLUSH = '7 fdatasync(21</data/pharos.db-wal>) = 0'
const ANSWER = '7 writev(25<socket:[1]>, [{iov_base="HTTP/1.1 201 Created\\r\\nx-req"..., iov_len=9}], 1) = 9'

test('a trace in which every response follows a flush counts its responses', () => {
  expect(answersAfterFlush([WRITE, WRITE, FLUSH, ANSWER, ANSWER, WRITE, FLUSH, ANSWER].join('\n'))).toBe(3)
})

test('a response between a write of the log and its flush is detected', () => {
  expect(() => answersAfterFlush([WRITE, FLUSH, ANSWER, WRITE, ANSWER].join('\n'))).toThrow(
    'answered before a flush',
  )
})

test('a flush that another thread interrupted counts when it ends, and not before', () => {
  const begun = '7 fdatasync(21</data/pharos.db-wal> <unfinished ...>'
  const ended = '7 <... fdatasync resumed>) = 0'

  expect(answersAfterFlush([WRITE, begun, ended, ANSWER].join('\n'))).toBe(1)
  expect(() => answersAfterFlush([WRITE, begun, ANSWER, ended].join('\n'))).toThrow('answered before')
})
