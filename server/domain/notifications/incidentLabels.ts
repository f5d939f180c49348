import type { IncidentStatus, Severity } from '../../../api/contract/incidentTerms.ts'

/** Names of the statuses of an incident. */
export const STATUS_LABELS: Readonly<Record<IncidentStatus, string>> = {
  investigating: 'Investigating',
  identified: 'Identified',
  monitoring: 'Monitoring',
  resolved: 'Resolved',
}

/** Names of the severities. */
export const SEVERITY_LABELS: Readonly<Record<Severity, string>> = {
  degraded_performance: 'Degraded performance',
  partial_outage: 'Partial outage',
  major_outage: 'Major outage',
}
