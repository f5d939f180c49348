import type { OrgUsage } from '../../../domain/planLimits.ts'
import { COLUMN_OF_LIMIT, type LimitRow } from '../../shared/limitRow.ts'

/** Limits of an organisation; `null` for those of its plan. */
type OverriddenLimits = { readonly [Limit in keyof LimitRow]: LimitRow[Limit] | null }

/** The columns of an organisation that mutations change. */
export interface OrgColumns extends OverriddenLimits, OrgUsage {
  readonly name: string
  readonly threshold: number | null
  readonly windowMinutes: number | null
  /** Number of incidents it ever had, which is the number of the newest one. */
  readonly incidentsMade: number
  readonly incidentBytes: number
  /**
   * Running totals: commands, bytes of past generations, short responses, bytes of long responses. Cleanup finds the
   * oldest rows by them.
   */
  readonly commandsMade: number
  readonly pastBytes: number
  readonly shortResponsesMade: number
  readonly longResponseBytes: number
}

const COLUMN_OF_FIELD = {
  name: 'name',
  ...COLUMN_OF_LIMIT,
  threshold: 'auto_incident_threshold',
  windowMinutes: 'auto_incident_window_minutes',
  activeServices: 'active_services',
  activeEndpoints: 'active_endpoints',
  storedServices: 'stored_services',
  incidentsMade: 'incidents_made',
  incidentBytes: 'incident_bytes',
  commandsMade: 'commands_made',
  pastBytes: 'past_bytes',
  shortResponsesMade: 'short_answers_made',
  longResponseBytes: 'long_answer_bytes',
} as const satisfies Record<keyof OrgColumns, string>

/** Each field with its column, in the order of their parameters. */
export const ORG_COLUMNS = Object.entries(COLUMN_OF_FIELD).map(([field, column]) => ({
  // True because Object.entries gives the keys of a constant.
  field: field as keyof OrgColumns,
  column,
}))
