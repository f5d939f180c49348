import { ApiError } from '../../api/contract/apiError.ts'
import type { Incident } from '../../api/contract/incident.ts'

/** Size of an incident, an update and a named service without their texts (bytes): their rows and index entries. */
const INCIDENT_BYTES = 1_024
const UPDATE_BYTES = 384
const SERVICE_BYTES = 256
/**
 * Size reserved for an open incident (bytes): the longest update, of 20,000 characters, so that it can always be
 * resolved.
 */
const RESOLUTION_BYTES = 80 * 1_024

const MIB = 1_024 * 1_024

/** The size of an organisation's incidents, and its limit, read in the transaction that writes. Gap G38. */
export interface IncidentQuota {
  /** Sum of `incidentBytes` over all incidents. */
  readonly usedBytes: number
  readonly mibMax: number
}

/**
 * The size of `incident` that counts towards the limit (bytes). The migration to schema 4 counts the same. Gap G38.
 * Pure.
 */
export function incidentBytes({ title, status, updates, service_ids: serviceIds }: Incident): number {
  const texts = updates.reduce((sum, { body }) => sum + UPDATE_BYTES + Buffer.byteLength(body), 0)
  // The title is stored twice, once in its form for searches.
  const own = INCIDENT_BYTES + 2 * Buffer.byteLength(title) + SERVICE_BYTES * serviceIds.length
  return own + texts + (status === 'resolved' ? 0 : RESOLUTION_BYTES)
}

/**
 * Throws `forbidden` when replacing `before` (`null` for a new incident) with `after` exceeds the limit. Changes that
 * do not increase the size, such as resolving, are always allowed. Gap G38. Pure.
 */
export function assertWithinIncidentQuota(
  quota: IncidentQuota,
  before: Incident | null,
  after: Incident,
): void {
  const grownBy = incidentBytes(after) - (before === null ? 0 : incidentBytes(before))
  if (grownBy <= 0 || quota.usedBytes + grownBy <= quota.mibMax * MIB) return
  const rule = `at most ${quota.mibMax} MiB of incidents, where an open one counts for ${RESOLUTION_BYTES / 1_024} KiB more`
  throw new ApiError('forbidden', `plan limit: ${rule}: resolve some, or ask for a higher limit`)
}
