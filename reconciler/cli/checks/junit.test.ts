import { expect, test } from 'vitest'
import { problemsJunit } from './junit.ts'

test('a JUnit report of invalid manifests has a test case for each problem, with its place', () => {
  const place = { file: 'shop.yaml', line: 4, column: 7 }

  const report = problemsJunit([
    { ...place, code: 'E_VALUE', message: 'spec.interval must be < 1d', hint: 'write 30s' },
    { ...place, line: 9, code: 'E_SECRET', message: 'TOKEN is not set' },
  ])

  expect(report).toContain('<testsuites name="pharos test" tests="2" failures="0" errors="2">')
  expect(report).toContain(
    'name="shop.yaml:4:7"><error message="shop.yaml:4:7: [E_VALUE] spec.interval must be &lt; 1d (write 30s)"/>',
  )
  expect(report).toContain('[E_SECRET] TOKEN is not set')
})
