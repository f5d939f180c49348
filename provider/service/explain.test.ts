import { expect, test } from 'vitest'
import { ConnectionError } from '../../api/client/attempt.ts'
import { UnreadableResponse } from '../../api/client/contractResponse.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import { DiagnosticError } from '../protocol/authoring/diagnostics.ts'
import { withExplainedFailure } from './explain.ts'

async function detailOf(error: Error): Promise<string> {
  const failure = await withExplainedFailure('read the organisation', () => Promise.reject(error)).catch(
    (one) => one,
  )
  expect(failure).toBeInstanceOf(DiagnosticError)
  const [{ summary, detail }] = failure.diagnostics
  return `${summary}: ${detail}`
}

test('a refused key is reported with both places that it may come from', async () => {
  expect(await detailOf(new ApiError('unauthorized', 'unauthorized'))).toBe(
    'Cannot read the organisation: The API responded: unauthorized. The API key is missing, malformed or revoked (status 401): check api_key of the provider (or PHAROS_API_KEY).',
  )
})

test('an address without the API is reported as such', async () => {
  const error = new UnreadableResponse('http://a/v2 does not look like the API: GET /v1/org got status 404')

  expect(await detailOf(error)).toBe(
    'Cannot read the organisation: The response cannot be used: http://a/v2 does not look like the API: GET /v1/org got status 404. Check url of the provider (or PHAROS_URL), and any proxy in front of the API.',
  )
})

test('a connection error that cannot pass says what to fix, and any other one to check the address', async () => {
  const untrusted = new ConnectionError('no response from https://a (CERT)', 'not-sent', { hint: 'trust it' })

  expect(await detailOf(untrusted)).toContain(
    'There was no response from https://a (CERT). Nothing was changed: trust it.',
  )
  const noTls = new ConnectionError('no response from https://a (X)', 'not-sent', { hint: 'another port?' })
  expect(await detailOf(noTls)).toMatch(/: another port\?$/)
  expect(await detailOf(new ConnectionError('no response from http://a (X)', 'not-sent'))).toContain(
    'Nothing was changed: check url of the provider (or PHAROS_URL) and that the server runs.',
  )
})
