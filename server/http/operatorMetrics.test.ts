import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { addMonitoringMetrics } from './operatorMetrics.ts'

test('a remote region without an agent shows 0, and one that the server checks shows none', async () => {
  const registry = new Registry()
  addMonitoringMetrics(registry, async () => ({
    modes: new Map([
      ['eu-west-1', 'remote'],
      ['us-east-1', 'embedded'],
    ]),
    agents: new Map([['eu-west-1', 0]]),
    ...{ load: undefined, isStoring: true, waiting: 0, transitionsBehind: 0 },
    restarts: { checks: 0, results: 0 },
  }))

  const lines = (await registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith('pharos_region_agents'))

  expect(lines).toEqual(['pharos_region_agents{region="eu-west-1"} 0'])
})
