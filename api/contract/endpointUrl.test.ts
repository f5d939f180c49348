import { expect, test } from 'vitest'
import { endpointUrlProblem } from './endpointUrl.ts'

test('a URL with a letter outside ASCII is as good the hundred-thousandth time as the first', () => {
  const problems = new Set<string | undefined>()

  for (let time = 0; time < 100_000; time += 1) problems.add(endpointUrlProblem('https://münchen.de/'))

  expect([...problems]).toEqual([undefined])
})
