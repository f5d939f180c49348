import { expect, test } from 'vitest'
import { formatPath } from '../../protocol/values/path.ts'
import { attributePath } from './attributePath.ts'

const HTTP = ['endpoints', 1, 'call', 'Http']
const ASSERTION = ['endpoints', 1, 'assertions', 2]

test.each([
  [['name'], 'name'],
  [['interval_secs'], 'interval'],
  [['regions', 3], 'regions'],
  [['endpoints'], 'endpoints'],
  [['endpoints', 1], 'endpoints[1]'],
  [['endpoints', 1, 'url'], 'endpoints[1].url'],
  [['endpoints', 1, 'name'], 'endpoints[1].name'],
  [HTTP, 'endpoints[1].http'],
  [[...HTTP, 'method'], 'endpoints[1].http.method'],
  [[...HTTP, 'timeout', 'nanos'], 'endpoints[1].http.timeout'],
  [[...HTTP, 'max_redirects_to_follow'], 'endpoints[1].http.max_redirects'],
  [[...HTTP, 'body', 'value'], 'endpoints[1].http.body.value'],
  [[...HTTP, 'headers'], 'endpoints[1].http.headers'],
  [[...HTTP, 'headers', 'X-A', 'value'], 'endpoints[1].http.headers["X-A"].value'],
  [['endpoints', 1, 'assertions'], 'endpoints[1].assertions'],
  [ASSERTION, 'endpoints[1].assertions[2]'],
  [[...ASSERTION, 'Nonsense'], 'endpoints[1].assertions[2]'],
  [[...ASSERTION, 'StatusCode', 'expected', 'Eq'], 'endpoints[1].assertions[2].status_code.eq'],
  [
    [...ASSERTION, 'StatusCode', 'expected', 'Between', 1],
    'endpoints[1].assertions[2].status_code.between[1]',
  ],
  // Elements of a set have no path.
  [[...ASSERTION, 'StatusCode', 'expected', 'OneOf', 1], 'endpoints[1].assertions[2].status_code.one_of'],
  [[...ASSERTION, 'Latency', 'l_type'], 'endpoints[1].assertions[2].latency.phase'],
  [[...ASSERTION, 'Latency', 'expected', 'LessThan', 'secs'], 'endpoints[1].assertions[2].latency.lt'],
  [[...ASSERTION, 'DnsResoltion', 'expected'], 'endpoints[1].assertions[2].dns_resolution'],
  [[...ASSERTION, 'Header', 'name'], 'endpoints[1].assertions[2].header.name'],
  [[...ASSERTION, 'Header', 'matcher', 'Equals'], 'endpoints[1].assertions[2].header.eq'],
  [[...ASSERTION, 'Body', 'matcher', 'Regex'], 'endpoints[1].assertions[2].body.regex'],
] as const)('the contract path %j is configured at %s', (path, attribute) => {
  expect(formatPath(attributePath(path))).toBe(attribute)
})
