import type { CommandOrder } from '../commands/commandOrder.ts'

/**
 * Transactions become visible out of the order of their sequence numbers, so readers follow transaction ids, up to the
 * oldest transaction that is still running.
 */
export const COMMAND_ORDER: CommandOrder = {
  place: (alias) => `${alias}.xid, ${alias}.sequence`,
  columns: 'xid, sequence',
  xid: (alias) => `${alias}.xid::text`,
  given: (n) => `$${n}::text::xid8, $${n + 1}::bigint`,
  settled: 'c.xid < pg_snapshot_xmin(pg_current_snapshot())',
}
