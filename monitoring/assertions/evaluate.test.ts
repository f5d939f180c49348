import { expect, test } from 'vitest'
import type {
  Assertion,
  Comparison,
  DurationComparison,
  StringMatcher,
} from '../../api/contract/assertion.ts'
import { assertionNeeds, compileAssertions } from './compileAssertions.ts'
import {
  type EvaluationTools,
  evaluateAssertions,
  type Verdict,
  verdictsWithoutResponse,
} from './evaluate.ts'
import type { Observation } from './observation.ts'

const QUOTING = { isPrivate: () => false, isSealedHeader: () => false }
const TOOLS: EvaluationTools = { quoting: QUOTING, find: async (regex, text) => regex.isIn(text) }
const SEEN: Observation = {
  status: 200,
  headers: [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['X-Twice', 'one'],
    ['x-twice', 'two'],
    ['Set-Cookie', 'session=1'],
    ['Set-Cookie', 'theme=dark'],
    ['X-Empty', ''],
  ],
  body: { text: 'status: ok\n', bytes: 11, mediaType: 'text/html' },
  latencyUs: { HeadersLatency: 2_310_000, BodyLatency: 48_200, TotalLatency: 2_358_200 },
  dnsUs: 640,
}

async function verdictOn(assertion: Assertion, seen = SEEN, tools = TOOLS): Promise<Verdict> {
  const [verdict] = await evaluateAssertions(compileAssertions([assertion]), seen, tools)
  if (verdict === undefined) throw new Error('an assertion has a verdict')
  return whole(verdict)
}

/** A verdict with its texts as own properties, which `toEqual` compares. */
function whole({ kind, result, expected, seen, text }: Verdict): Verdict {
  return { kind, result, expected, seen, text }
}

test.each<[Comparison, readonly number[], readonly number[], string]>([
  [{ Eq: 200 }, [200], [199, 201], '200'],
  [{ NotEq: 200 }, [199, 201], [200], 'not 200'],
  [{ GreaterThan: 200 }, [201], [200, 199], '> 200'],
  [{ GreaterOrEqual: 200 }, [200, 201], [199], '≥ 200'],
  [{ LessThan: 200 }, [199], [200, 201], '< 200'],
  [{ LessOrEqual: 200 }, [199, 200], [201], '≤ 200'],
  [{ Between: [200, 299] }, [200, 250, 299], [199, 300], '200–299'],
  [{ OneOf: [200, 204, 404] }, [200, 204, 404], [201, 403], '200, 204 or 404'],
  [{ OneOf: [200] }, [200], [201], '200'],
])('a status is compared as %j says', async (expected, passing, failing, text) => {
  for (const status of [...passing, ...failing]) {
    const verdict = await verdictOn({ StatusCode: { expected } }, { ...SEEN, status })
    const isPass = passing.includes(status)
    expect(verdict).toEqual({
      kind: 'StatusCode',
      result: isPass ? 'pass' : 'fail',
      expected: text,
      seen: String(status),
      text: isPass ? `status ${status} (expected ${text})` : `status ${status}, expected ${text}`,
    })
  }
})

const SECOND = { secs: 1, nanos: 0 }
test.each<[DurationComparison, readonly number[], readonly number[], string]>([
  [{ LessThan: SECOND }, [0, 999_999], [1_000_000, 1_000_001], '< 1 s'],
  [{ LessOrEqual: SECOND }, [1_000_000], [1_000_001], '≤ 1 s'],
  [
    { Between: [{ secs: 0, nanos: 500_000_000 }, SECOND] },
    [500_000, 1_000_000],
    [499_999, 1_000_001],
    '500 ms–1 s',
  ],
  [{ LessThan: { secs: 0, nanos: 1_500 } }, [1], [2], '< 1.5 µs'],
  [{ LessThan: { secs: Number.MAX_SAFE_INTEGER, nanos: 0 } }, [60_000_000], [], '< forever'],
])('a time is compared as %j says', async (expected, passing, failing, text) => {
  for (const us of [...passing, ...failing]) {
    const result = passing.includes(us) ? 'pass' : 'fail'
    const latency = { Latency: { l_type: 'TotalLatency', expected } } as const
    expect(await verdictOn(latency, { ...SEEN, latencyUs: { TotalLatency: us } })).toMatchObject({
      result,
      expected: text,
    })
    expect(await verdictOn({ DnsResoltion: { expected } }, { ...SEEN, dnsUs: us })).toMatchObject({ result })
  }
})

test.each<[StringMatcher, readonly string[], readonly string[]]>([
  [{ Equals: 'ok' }, ['ok'], ['OK', ' ok', 'ok ', 'okay', '']],
  [{ Equals: '' }, [''], [' ']],
  [{ Contains: 'ok' }, ['ok', 'not ok.'], ['OK', 'o k']],
  [{ Contains: '' }, ['', 'a'], []],
  [{ StartsWith: 'ok' }, ['ok', 'ok.'], ['not ok', ' ok']],
  [{ EndsWith: 'ok' }, ['ok', 'not ok'], ['ok.', 'ok\n']],
  [{ Equals: 'e\u0301' }, ['e\u0301'], ['\u00e9']],
  [{ Regex: 'o.' }, ['ok', 'not ok'], ['', 'o\n']],
  [{ Regex: '^ok$' }, ['ok'], ['ok\n', 'a\nok\nb']],
  [{ Regex: '(?m)^ok$' }, ['a\nok\nb'], ['not ok']],
  [{ Regex: '(?i)OK' }, ['ok'], ['o k']],
])('a text is matched as %j says', async (matcher, passing, failing) => {
  for (const text of [...passing, ...failing]) {
    const result = passing.includes(text) ? 'pass' : 'fail'
    const body = { text, bytes: text.length, mediaType: '' }
    expect(await verdictOn({ Body: { matcher } }, { ...SEEN, body })).toMatchObject({ result })
    const headers = [['X-Text', text]] as const
    expect(await verdictOn({ Header: { name: 'x-text', matcher } }, { ...SEEN, headers })).toMatchObject({
      result,
    })
  }
})

test.each<[string, StringMatcher, 'pass' | 'fail']>([
  ['CONTENT-TYPE', { StartsWith: 'text/html' }, 'pass'],
  ['x-twice', { Equals: 'one, two' }, 'pass'],
  ['x-twice', { Equals: 'two' }, 'fail'],
  ['set-cookie', { Equals: 'theme=dark' }, 'pass'],
  ['set-cookie', { Equals: 'session=1, theme=dark' }, 'fail'],
  ['x-empty', { Equals: '' }, 'pass'],
  ['x-absent', { Equals: '' }, 'fail'],
  ['x-absent', { Contains: '' }, 'fail'],
  ['x-absent', { Regex: '' }, 'fail'],
])('header %s, %j: %s', async (name, matcher, result) => {
  expect(await verdictOn({ Header: { name, matcher } })).toMatchObject({ result })
})

test.each<[Assertion, string]>([
  [{ StatusCode: { expected: { Between: [500, 599] } } }, 'status 200, expected 500–599'],
  [
    { Latency: { l_type: 'HeadersLatency', expected: { LessThan: { secs: 2, nanos: 0 } } } },
    'headers after 2.31 s, expected < 2 s',
  ],
  [
    { Latency: { l_type: 'BodyLatency', expected: { LessThan: { secs: 0, nanos: 1_000_000 } } } },
    'body within 48.2 ms, expected < 1 ms',
  ],
  [
    { DnsResoltion: { expected: { LessThan: { secs: 0, nanos: 1_000 } } } },
    'name resolved in 640 µs, expected < 1 µs',
  ],
  [
    { Header: { name: 'Content-Type', matcher: { StartsWith: 'application/json' } } },
    'header content-type is "text/html; charset=utf-8", expected to start with "application/json"',
  ],
  [
    { Header: { name: 'X-Absent', matcher: { Equals: 'a' } } },
    'header x-absent is absent, expected to be "a"',
  ],
  [
    { Header: { name: 'Set-Cookie', matcher: { Contains: 'admin' } } },
    'header set-cookie is …, expected to contain "admin"',
  ],
  [{ Body: { matcher: { Contains: 'fine' } } }, 'body (11 bytes, text/html) does not contain "fine"'],
  [{ Body: { matcher: { Regex: '^ok' } } }, 'body (11 bytes, text/html) does not match /^ok/'],
])('%j is reported as: %s', async (assertion, text) => {
  expect((await verdictOn(assertion)).text).toBe(text)
})

test('every assertion is evaluated, even after one has failed', async () => {
  const compiled = compileAssertions([
    { StatusCode: { expected: { Eq: 500 } } },
    { Body: { matcher: { Contains: 'ok' } } },
    { Header: { name: 'x-absent', matcher: { Equals: '' } } },
  ])

  const verdicts = await evaluateAssertions(compiled, SEEN, TOOLS)

  expect(verdicts.map(({ result }) => result)).toEqual(['fail', 'pass', 'fail'])
})

test('an assertion on a phase that was not reached fails, without an observed value', async () => {
  const { body, dnsUs, ...seen } = SEEN
  const assertions: readonly Assertion[] = [
    { Latency: { l_type: 'TotalLatency', expected: { LessThan: { secs: 60, nanos: 0 } } } },
    { DnsResoltion: { expected: { LessThan: { secs: 60, nanos: 0 } } } },
    { Body: { matcher: { Contains: '' } } },
  ]

  const verdicts = await evaluateAssertions(compileAssertions(assertions), { ...seen, latencyUs: {} }, TOOLS)

  expect(verdicts.map(({ result, seen: value }) => [result, value])).toEqual(
    assertions.map(() => ['fail', null]),
  )
  const unseen = verdictsWithoutResponse(compileAssertions(assertions), QUOTING)
  expect(unseen.map(whole)).toEqual(verdicts.map(whole))
  expect(body?.bytes).toBe(dnsUs === 640 ? 11 : 0)
})

test('no text contains a secret, neither as the observed nor as the expected value', async () => {
  const secret = 'canary-0123456789'
  const tools = {
    ...TOOLS,
    quoting: { isPrivate: (text: string) => text.includes(secret), isSealedHeader: () => false },
  }
  const headers = [['X-Echo', `${'a'.repeat(195)}${secret}`]] as const
  const assertion: Assertion = { Header: { name: 'x-echo', matcher: { Equals: secret } } }

  const verdict = await verdictOn(assertion, { ...SEEN, headers }, tools)

  expect(verdict).toEqual({
    kind: 'Header',
    result: 'fail',
    expected: 'to be …',
    seen: '…',
    text: 'header x-echo is …, expected to be …',
  })
})

test('a long value is truncated, and control characters are made visible', async () => {
  const headers = [['X-Long', `\u009b31m${'é'.repeat(300)}`]] as const

  const { seen } = await verdictOn(
    { Header: { name: 'x-long', matcher: { Equals: '' } } },
    { ...SEEN, headers },
  )

  expect(seen).toBe(`"\\u009b31m${'é'.repeat(196)}…"`)
})

test('a match that was aborted is neither true nor false, and so is a pattern that the API refuses', async () => {
  const tools = { ...TOOLS, find: async () => undefined }
  const body = { text: 'a'.repeat(300_000), bytes: 300_000, mediaType: '' }
  const seen = { ...SEEN, body }

  expect(await verdictOn({ Body: { matcher: { Regex: '(?i)[a-z]{50}c' } } }, seen, tools)).toMatchObject({
    result: 'unknown',
    text: 'body (300,000 bytes); the regular expression took too long, expected to match /(?i)[a-z]{50}c/',
  })
  expect(await verdictOn({ Body: { matcher: { Regex: '(a{1000}){100}' } } })).toMatchObject({
    result: 'unknown',
  })
})

test.each<[readonly Assertion[], object]>([
  [[], { wholeBody: false, bodyText: false, freshDns: false, impliedStatus: true }],
  [
    [{ StatusCode: { expected: { Eq: 500 } } }],
    { wholeBody: false, bodyText: false, freshDns: false, impliedStatus: false },
  ],
  [
    [{ Latency: { l_type: 'HeadersLatency', expected: { LessThan: SECOND } } }],
    { wholeBody: false, bodyText: false, freshDns: false, impliedStatus: true },
  ],
  [
    [{ Latency: { l_type: 'TotalLatency', expected: { LessThan: SECOND } } }],
    { wholeBody: true, bodyText: false, freshDns: false, impliedStatus: true },
  ],
  [
    [{ Body: { matcher: { Equals: '' } } }, { DnsResoltion: { expected: { LessThan: SECOND } } }],
    { wholeBody: true, bodyText: true, freshDns: true, impliedStatus: true },
  ],
])('%j needs %j', (assertions, needs) => {
  expect(assertionNeeds(compileAssertions(assertions))).toEqual(needs)
})
