import { expect, test } from 'vitest'
import { ConnectionError } from '../../api/client/attempt.ts'
import { UnreadableResponse } from '../../api/client/contractResponse.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import { DiagnosticError } from '../protocol/authoring/diagnostics.ts'
import { type Task, withExplainedFailure } from './explain.ts'

const READ = { task: 'read the organisation', operation: 'read' } as const

async function detailOf(error: Error, task: Task = READ): Promise<string> {
  const failure = await withExplainedFailure(task, () => Promise.reject(error)).catch((one) => one)
  expect(failure).toBeInstanceOf(DiagnosticError)
  const [{ summary, detail }] = failure.diagnostics
  return `${summary}: ${detail}`
}

test('a refused key is reported with both places that it may come from', async () => {
  expect(await detailOf(new ApiError('unauthorized', 'unauthorized'))).toBe(
    'Cannot read the organisation: The API responded: unauthorized. The API key is missing, malformed or revoked (status 401): check api_key of the provider (or PHAROS_API_KEY).',
  )
})

test('a refused read does not blame a read-only key, and a refused write may', async () => {
  const refusal = new ApiError('forbidden', 'forbidden')

  expect(await detailOf(refusal)).toBe(
    'Cannot read the organisation: The API responded: forbidden. The plan of the organisation may not include API access (status 403).',
  )
  expect(await detailOf(refusal, { task: 'create the service', operation: 'create' })).toContain(
    'Either the API key is read-only, or',
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
