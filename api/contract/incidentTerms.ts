/** The words of an incident. Apart from its schemas, for programs that load those only when they check one. */

/** Contract: Incident. */
export const INCIDENT_STATUSES = ['investigating', 'identified', 'monitoring', 'resolved'] as const
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number]

/** Contract: Incident. */
export const SEVERITIES = ['degraded_performance', 'partial_outage', 'major_outage'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Contract: GET /v1/incidents query parameters. */
export const SECTIONS = ['active', 'resolved'] as const
export type Section = (typeof SECTIONS)[number]
