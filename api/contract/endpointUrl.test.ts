import { expect, test } from 'vitest'
import { endpointUrlProblem } from './endpointUrl.ts'

test('a URL with a letter outside ASCII is still accepted after a hundred thousand calls', () => {
  const problems = new Set<string | undefined>()

  for (let time = 0; time < 100_000; time += 1) problems.add(endpointUrlProblem('https://münchen.de/'))

  expect([...problems]).toEqual([undefined])
})

const CREDENTIALS = 'must not contain a user name or password: use a sensitive header'
const ABSOLUTE = 'must be an absolute http:// or https:// URL'
const BLANK = 'must not contain blanks, control characters or backslashes'

test.each([
  ['http://example.com', undefined],
  ['HTTPS://example.com:8443/a?b=@c#d@e', undefined],
  ['https://example.com?a@b', undefined],
  ['https://example.com#a@b', undefined],
  ['https://[::1]:80/', undefined],
  ['', 'must not be empty'],
  ['ftp://example.com', ABSOLUTE],
  ['xhttps://example.com', ABSOLUTE],
  ['https:///example.com', ABSOLUTE],
  ['https:example.com', ABSOLUTE],
  ['https://', ABSOLUTE],
  ['https://:80/', ABSOLUTE],
  ['https://?a', ABSOLUTE],
  ['https://exa<mple.com', ABSOLUTE],
  ['https://example.com:0/', 'must not use port 0'],
  ['https://user@example.com', CREDENTIALS],
  ['https://:password@example.com', CREDENTIALS],
  ['https://user:password@example.com', CREDENTIALS],
  ['https://@example.com', CREDENTIALS],
  ['https://example.com/a b', BLANK],
  ['https://example.com\\a', BLANK],
  ['https://example.com/\u0007', BLANK],
  ['https://example.com/\u202e', 'must not contain the direction control U+202E (character 21)'],
  [`https://example.com/${'x'.repeat(2_028)}`, undefined],
  [`https://example.com/${'x'.repeat(2_029)}`, 'must have at most 2048 characters'],
])('the address %s: %s', (url, problem) => {
  expect(endpointUrlProblem(url)).toBe(problem)
})
