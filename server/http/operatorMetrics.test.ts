import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { IDLE_SYNC } from '../../monitoring/agent/testing/idleSync.ts'
import { addMonitoringMetrics, type MonitoringStats } from './operatorMetrics.ts'

const IDLE: MonitoringStats = {
  ...{ modes: new Map(), agents: new Map(), load: undefined, loads: [], isStoring: true, waiting: 0 },
  ...{ checks: [], resultsBytes: 0, transitionsBehind: 0, restarts: { checks: 0, results: 0 } },
}

/** Lines of the metrics whose names begin with `prefix`, without comments. */
async function linesOf(stats: Partial<MonitoringStats>, prefix: string): Promise<readonly string[]> {
  const registry = new Registry()
  addMonitoringMetrics(registry, async () => ({ ...IDLE, ...stats }))
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith(prefix))
}

test('metrics show 0 agents for a remote region without one, and no value for a region that the server checks', async () => {
  const modes = new Map([
    ['eu-west-1', 'remote'],
    ['us-east-1', 'embedded'],
  ] as const)

  const lines = await linesOf({ modes, agents: new Map([['eu-west-1', 0]]) }, 'pharos_region_agents')

  expect(lines).toEqual(['pharos_region_agents{region="eu-west-1"} 0'])
})

test('metrics show the last report of each agent', async () => {
  const name = { region: 'eu-west-1', agent: 'dublin-1', instance: 'a' }
  const load = { ...IDLE_SYNC.load, suspect: true, clock_ahead_ms: -3_600_000, dropped: 7 }

  const lines = await linesOf({ loads: [{ name, load }] }, 'pharos_agent_')

  const labels = '{region="eu-west-1",agent="dublin-1",instance="a"}'
  expect(lines).toEqual([
    `pharos_agent_checks_in_flight${labels} 0`,
    `pharos_agent_scheduler_lag_seconds${labels} 0`,
    `pharos_agent_suspect${labels} 1`,
    `pharos_agent_clock_offset_seconds${labels} -3600`,
    `pharos_agent_results_waiting${labels} 0`,
    `pharos_agent_results_dropped_total${labels} 7`,
    `pharos_agent_slots_skipped_total${labels} 0`,
  ])
})
