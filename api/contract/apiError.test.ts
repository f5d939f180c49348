import { expect, test } from 'vitest'
import { ApiError, codeOfStatus, STATUS_OF_ERROR } from './apiError.ts'

test.each(Object.entries(STATUS_OF_ERROR))('a client decodes %s from its status, %i', (code, status) => {
  expect(codeOfStatus(status)).toBe(code)
})

test.each([
  [399, 'internal'],
  [402, 'invalid'],
  [499, 'invalid'],
  [505, 'internal'],
  [200, 'internal'],
])('the status %i, which is not in the error table, decodes as %s', (status, code) => {
  expect(codeOfStatus(status)).toBe(code)
})

test('an error has the status of its code, unless another one is given', () => {
  const cause = new Error('why')
  const [plain, other] = [
    new ApiError('conflict', 'text', { cause }),
    new ApiError('invalid', 'text', { status: 418 }),
  ]

  expect([plain.name, plain.code, plain.status, plain.message, plain.cause]).toEqual([
    'ApiError',
    'conflict',
    409,
    'text',
    cause,
  ])
  expect([other.code, other.status, new ApiError('internal', 'text').status]).toEqual(['invalid', 418, 500])
})

test('only a failure of the server has a stack, and the errors after a refusal keep theirs', () => {
  const statuses = [400, 499, 500, 502]

  const hasStack = statuses.map((status) => frames(new ApiError('invalid', 'text', { status })) > 0)

  expect([hasStack, frames(new Error('text')) > 0]).toEqual([[false, false, true, true], true])
})

function frames({ stack = '' }: Error): number {
  return stack.split('\n').filter((line) => line.trim().startsWith('at ')).length
}
