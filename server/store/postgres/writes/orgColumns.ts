/** The columns of an organisation that mutations change. */
export interface OrgColumns {
  readonly name: string
  readonly plan: string
  readonly servicesMax: number | null
  readonly endpointsMax: number | null
  readonly serviceEndpointsMax: number | null
  readonly intervalSecsMin: number | null
  readonly incidentsMibMax: number | null
  readonly resultsDays: number | null
  readonly regionsAllowed: string | null
  readonly threshold: number | null
  readonly windowMinutes: number | null
  readonly activeServices: number
  readonly activeEndpoints: number
  readonly storedServices: number
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
  plan: 'plan',
  servicesMax: 'services_max',
  endpointsMax: 'endpoints_max',
  serviceEndpointsMax: 'service_endpoints_max',
  intervalSecsMin: 'interval_secs_min',
  incidentsMibMax: 'incidents_mib_max',
  resultsDays: 'results_days',
  regionsAllowed: 'regions_allowed',
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
