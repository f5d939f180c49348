import { expect, test } from 'vitest'
import { resultsRequestSchema } from '../protocol/messages.ts'
import { type CheckReport, skippedCheck } from './checkReport.ts'
import { queuedResult } from './queuedResult.ts'

const LONG = 'x'.repeat(5_000)
const CERTIFICATE = {
  ...{ host: 'shop.example', port: 443, fingerprint: 'f', subject: LONG, issuer: LONG, serial: '1' },
  ...{ not_before_ms: 0, not_after_ms: 1, chain_not_after_ms: 1 },
}

/** The message with a result of a check that received `certificates`. */
function messageOf(certificates: CheckReport['certificates']) {
  const report = skippedCheck('agent_local', 'no file descriptor is free')
  const detail = { ...(report.detail ?? { text: '', failed: 0, first: null }), expected: LONG, seen: LONG }
  const store = '7d9f2274-d054-4145-b315-a22794e92802'
  const result = queuedResult({
    ...{ series: 8, generation: 1, store, dueS: 1, lateMs: 0 },
    report: { ...report, detail, certificates },
  })
  return resultsRequestSchema.safeParse({
    ...{ protocol: 1, store, instance: store, batch: 1, sent_ms: 1 },
    ...{ results: [result.row], details: [result.detail], certificates: result.certificates },
  })
}

test('a very long name in a certificate, or very long values, do not make the message invalid', () => {
  const message = messageOf([CERTIFICATE])

  expect(message.error).toBeUndefined()
  expect(message.data?.certificates).toMatchObject([{ subject: expect.stringMatching(/^x+…$/) }])
})

test.each([Number.NaN, 9_007_199_254_740_991])('a certificate that ends at %d is left out', (endMs) => {
  const message = messageOf([{ ...CERTIFICATE, not_after_ms: endMs }])

  expect(message.error).toBeUndefined()
  expect(message.data?.certificates).toEqual([])
})
