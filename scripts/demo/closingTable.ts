import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Step } from './demoRunner.ts'

/** `rows` in columns as wide as their longest cell; cells of `numeric` columns to the right. Pure. */
function table(rows: readonly (readonly string[])[], numeric: number): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === numeric ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join('\n')
}

/** What exists at the end, a service a line. Pure. */
export function servicesTable(services: readonly ServiceResponse[]): string {
  const rows = services.map((service) => [
    service.name,
    service.paused_at == null ? 'active' : 'paused',
    `every ${service.interval_secs} s`,
    service.regions.join(', '),
  ])
  return table([['service', 'state', 'checked', 'from'], ...rows], -1)
}

/** Number of API requests of each step. The demo's own requests do not count. Pure. */
export function stepsTable(steps: readonly Step[], notSteps: readonly string[]): string {
  const rows = steps.flatMap(({ title, requests }) =>
    notSteps.includes(title) ? [] : [[title, String(requests)]],
  )
  return table([['step', 'API requests'], ...rows], 1)
}
