import type { CommandOrder } from '../commands/commandOrder.ts'

/** The single writer makes sequence numbers visible in order. */
export const COMMAND_ORDER: CommandOrder = {
  place: (alias) => `${alias}.sequence`,
  columns: 'sequence',
  xid: () => "'0'",
  given: (n) => `$${n + 1}`,
  settled: 'true',
}
