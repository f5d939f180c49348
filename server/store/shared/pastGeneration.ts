import { pastDefinition } from '../../domain/pastDefinition.ts'
import type { Service, ServiceChange } from '../../domain/serviceChanges.ts'

/** Maximum total size of the past generations of an organisation (bytes). Gap G48. */
export const PAST_BYTES_MAX = 64 * 1024 * 1024
/** Size of a generation besides its definition and origin (bytes). */
const ROW_BYTES = 256

/** A generation, and the change that ended it. */
export interface Ending {
  readonly service: Service
  /** The previous ChangeOrigin of the service, as JSON. */
  readonly origin: string | null
  readonly change: ServiceChange
  readonly nowMs: number
}

/** A past generation to store. */
export interface PastRow {
  readonly serviceId: string
  readonly generation: number
  readonly untilMs: number
  readonly origin: string | null
  readonly definition: string | null
  /** Running total of the sizes of the organisation's generations (bytes), by which cleanup finds the oldest. */
  readonly bytesUpTo: number
}

/**
 * The rows of an ended generation, and of its deletion; `bytesBefore` is the running total so far. The current
 * generation has no row. Pure.
 */
export function pastRows(
  { service, origin, change, nowMs }: Ending,
  bytesBefore: number,
): readonly PastRow[] {
  const { response, generation } = service
  // A change that keeps the definition, such as a pause: the next generation has the same one.
  const isSame = change.service !== null && change.sealed === null
  const ended = { generation, origin, definition: isSame ? null : pastDefinition(response) }
  const deletion = {
    generation: generation + 1,
    origin: change.origin === undefined ? null : JSON.stringify(change.origin),
    definition: null,
  }
  let bytesUpTo = bytesBefore
  return (change.service === null ? [ended, deletion] : [ended]).map((row) => {
    bytesUpTo += ROW_BYTES + Buffer.byteLength(row.definition ?? '') + Buffer.byteLength(row.origin ?? '')
    return { serviceId: response.id, untilMs: nowMs, ...row, bytesUpTo }
  })
}

/** Whether the generation after `change` has the origin of the previous one, because the definition has it. Pure. */
export function keepsOrigin({ action }: Pick<ServiceChange, 'action'>): boolean {
  return action === 'set_auto_incidents' || action === 'pause' || action === 'resume'
}
