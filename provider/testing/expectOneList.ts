import { expect } from 'vitest'
import { SINGLE_READS_MAX } from '../service/read/serviceReads.ts'

/**
 * Expects the permitted requests of a walk over many services, as `METHOD /path`: one list, and before it no more
 * single reads than a walk over few services makes. Their number depends on Terraform's timing.
 */
export function expectOneList(requests: readonly string[]): void {
  const lists = requests.filter((line) => line === 'GET /v1/services')
  const others = requests.filter((line) => line !== 'GET /v1/services')

  expect(lists.length).toBe(1)
  expect(others.length).toBeLessThanOrEqual(SINGLE_READS_MAX)
  expect(others.filter((line) => !line.startsWith('GET /v1/services/'))).toEqual([])
}
