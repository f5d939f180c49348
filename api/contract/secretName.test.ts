import { expect, test } from 'vitest'
import { suggestsSecret } from './secretName.ts'

test.each([
  'Authorization',
  'Proxy-Authorization',
  'Cookie',
  'X-Auth-Key',
  'X-Api-Key',
  'apikey',
  'api_key',
  'Ocp-Apim-Subscription-Key',
  'X-Functions-Key',
  'key',
  'sig',
  'X-Hub-Signature',
  'access_token',
  'db_password',
  'pwd',
  'X-Session-Id',
])('%s suggests a secret', (name) => {
  expect(suggestsSecret(name)).toBe(true)
})

test.each([
  'Accept',
  'X-Trace',
  'X-Author',
  'Idempotency-Key',
  'Surrogate-Key',
  'keyword',
  'monkey',
  'design',
])('%s suggests no secret', (name) => {
  expect(suggestsSecret(name)).toBe(false)
})
