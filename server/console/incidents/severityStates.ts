import type { Severity } from '../../../api/contract/incidentTerms.ts'
import type { ShownState } from '../../../web/stateShapes.ts'

/** The state whose icon stands beside an incident. */
export const SEVERITY_STATES: Readonly<Record<Severity, ShownState>> = {
  degraded_performance: 'degraded',
  partial_outage: 'degraded',
  major_outage: 'down',
}
