import type { IncidentStatus, Severity } from '../../../api/contract/incidentTerms.ts'
import type { ShownState } from '../../../web/stateShapes.ts'

/** Names of the states of an incident. */
export const STATUS_WORDS: Readonly<Record<IncidentStatus, string>> = {
  investigating: 'Investigating',
  identified: 'Identified',
  monitoring: 'Monitoring',
  resolved: 'Resolved',
}

/** Names of the severities. */
export const SEVERITY_WORDS: Readonly<Record<Severity, string>> = {
  degraded_performance: 'Degraded performance',
  partial_outage: 'Partial outage',
  major_outage: 'Major outage',
}

/** The shape beside an incident. */
export const SEVERITY_STATES: Readonly<Record<Severity, ShownState>> = {
  degraded_performance: 'degraded',
  partial_outage: 'degraded',
  major_outage: 'down',
}
