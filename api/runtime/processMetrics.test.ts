import { Gauge } from 'prom-client'
import { expect, test } from 'vitest'
import { createRegistry } from './processMetrics.ts'

test('registries share the metrics of the process, and nothing else', () => {
  const [one, other] = [createRegistry(), createRegistry()]
  new Gauge({ name: 'own', help: 'of one', registers: [one] })

  const gc = one.getSingleMetric('nodejs_gc_duration_seconds')
  expect(gc).toBeDefined()
  expect(other.getSingleMetric('nodejs_gc_duration_seconds')).toBe(gc)
  expect(other.getSingleMetric('own')).toBeUndefined()
  expect(one.getSingleMetric('nodejs_active_handles_total')).toBeUndefined()
})
