import { Counter, Gauge, type Registry } from 'prom-client'
import type { DeliveryResult } from './delivery/channel.ts'
import type { ReportResult } from './forge/forgeReporter.ts'

/**
 * Adds the metrics of notifications to `registry`; `waiting` returns the number of queued events by channel. Their labels
 * are names from the configuration, and results.
 */
export function notificationMetrics(registry: Registry, waiting: () => ReadonlyMap<string, number>) {
  const registers = [registry]
  const deliveries = new Counter({
    name: 'pharos_notifications_total',
    help: 'Events by channel and result',
    labelNames: ['channel', 'result'],
    registers,
  })
  const reports = new Counter({
    name: 'pharos_forge_reports_total',
    help: 'Reports to forges about commits, by result',
    labelNames: ['forge', 'result'],
    registers,
  })
  new Gauge({
    name: 'pharos_notifications_waiting',
    help: 'Events that wait for their receiver',
    labelNames: ['channel'],
    registers,
    collect() {
      for (const [channel, count] of waiting()) this.set({ channel }, count)
    },
  })
  return {
    onDelivery: (channel: string, result: DeliveryResult, events: number): void =>
      deliveries.inc({ channel, result }, events),
    onReport: (forge: string, result: ReportResult): void => reports.inc({ forge, result }),
  }
}
