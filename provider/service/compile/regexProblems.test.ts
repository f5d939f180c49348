import { expect, test } from 'vitest'
import type { Assertion } from '../../../api/contract/assertion.ts'
import { regexProblems } from './regexProblems.ts'

const problemsOf = (assertions: readonly Assertion[]) =>
  regexProblems({
    name: 'checkout',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [
      {
        url: 'https://example.com/',
        call: { Http: { method: 'GET', timeout: null } },
        assertions: [...assertions],
      },
    ],
  })

const body = (Regex: string): Assertion => ({ Body: { matcher: { Regex } } })

test('RE2 expressions, other matchers and other assertions are accepted', async () => {
  expect(
    await problemsOf([
      body('^(a|b)+$'),
      { Body: { matcher: { Equals: '(' } } },
      { StatusCode: { expected: { Eq: 200 } } },
    ]),
  ).toEqual([])
})

test.each([
  ['ab(c', 'missing closing ) at character 3'],
  ['(a)(b', 'missing closing ) at character 4'],
  ['\\((', 'missing closing ) at character 3'],
  ['[(](', 'missing closing ) at character 4'],
  ['[\\]](', 'missing closing ) at character 5'],
  ['(\\(', 'missing closing ) at character 1'],
  ['((a)', 'missing closing ) at character 1'],
  ['([(]', 'missing closing ) at character 1'],
  ['é(', 'missing closing ) at character 2'],
  ['x[ab', 'missing closing ] at character 2'],
  ['ab(?=c)', 'invalid or unsupported Perl syntax at character 3'],
  ['a**', 'invalid nested repetition operator at character 2'],
])('the error of the expression %s has its place: %s', async (pattern, fault) => {
  const problems = await problemsOf([body('fine'), body(pattern)])

  expect(problems).toEqual([
    {
      severity: 'error',
      summary: 'Not a regular expression in RE2 syntax',
      detail: `endpoints[0].assertions[1].body.regex does not compile: ${fault}. RE2 has no look-around and no back-references, and every group must be closed.`,
      path: ['endpoints', 0, 'assertions', 1, 'body', 'regex'],
    },
  ])
})
