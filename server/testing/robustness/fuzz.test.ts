import { expect, test } from 'vitest'
import { cases } from '../../../scripts/testing/torture.ts'
import { startServer } from '../startServer.ts'
import { fuzz } from './fuzz.ts'
import { seededRandom } from './random.ts'

/** Enough requests to get every status. */
const REQUESTS = cases(600, 2_000)

test('each random request gets a response in the form of the contract, and none 5xx', async () => {
  const server = await startServer({ rateLimit: 'none', plan: 'enterprise' })

  const counts = await fuzz({
    url: server.url,
    key: server.apiKey,
    requests: REQUESTS,
    random: seededRandom(7),
  })
  await server.close()

  expect(Object.keys(counts)).toEqual(
    expect.arrayContaining(['200', '201', '204', '400', '404', '405', '415']),
  )
  expect(server.logged()).not.toContain('request failed')
})
