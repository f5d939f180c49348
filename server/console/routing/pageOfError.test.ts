import { expect, test } from 'vitest'
import { ApiError } from '../../../api/contract/apiError.ts'
import { DiskFullError } from '../../store/shared/diskFullError.ts'
import { pageOfError } from './pageOfError.ts'

test('the page of a lost database or a full disk says whether something was changed, and is no unexpected error', () => {
  const reported: unknown[] = []
  const seen = [
    new ApiError('internal', 'the database does not respond: repeat the request', { retryAfterSecs: 1 }),
    new ApiError('bad_gateway', 'the change may have been made: read before you repeat it'),
    new DiskFullError('database'),
    new Error('bug'),
  ].map((error) => {
    const { status, body, mayResend = false } = pageOfError(error, (one) => reported.push(one))
    return [status, mayResend, /<p>(.*)<\/p>/.exec(body.toString())?.[1]]
  })

  expect(seen).toEqual([
    [503, true, 'The database does not respond, and nothing was changed. Try again in a moment.'],
    [502, false, 'The change may have been made: read before you repeat it.'],
    [500, false, 'The disk of the database is full: nothing was changed; free some space.'],
    [500, false, 'An unexpected error occurred. The server log has the details.'],
  ])
  expect(reported).toEqual([new Error('bug')])
})
