import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Step } from './demoRunner.ts'

/** `rows` in columns as wide as their longest cell. Pure. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  return lines.map((line) => `  ${line.trimEnd()}`).join('\n')
}

/** The services at the end, one per line. Pure. */
export function servicesTable(services: readonly ServiceResponse[]): string {
  const rows = services.map((service) => [
    service.name,
    service.paused_at == null ? 'active' : 'paused',
    `every ${service.interval_secs} s`,
    service.regions.join(', '),
  ])
  return table([['service', 'state', 'checked', 'from'], ...rows])
}

/** The number of API requests of each step, without the demo's own requests. Pure. */
export function stepsTable(steps: readonly Step[], notSteps: readonly string[]): string {
  const rows = steps.flatMap(({ title, requests }) =>
    notSteps.includes(title) ? [] : [[title, String(requests)]],
  )
  return table([['step', 'API requests'], ...rows])
}
