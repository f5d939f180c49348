import { expect } from 'vitest'
import { SINGLE_READS_MAX } from '../service/read/serviceReads.ts'

/**
 * Expects what a walk over many services may cost, as `METHOD /path`: one list, and before it no more single
 * reads than a walk over few would make. How many of those there are is for Terraform's pace to say.
 */
export function expectOneList(requests: readonly string[]): void {
  const lists = requests.filter((line) => line === 'GET /v1/services')
  const others = requests.filter((line) => line !== 'GET /v1/services')

  expect(lists.length).toBe(1)
  expect(others.length).toBeLessThanOrEqual(SINGLE_READS_MAX)
  expect(others.filter((line) => !line.startsWith('GET /v1/services/'))).toEqual([])
}
