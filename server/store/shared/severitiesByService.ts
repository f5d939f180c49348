import type { Severity } from '../../../api/contract/incidentTerms.ts'

/** A severity of open incidents of a service. */
export interface ServiceSeverity {
  readonly serviceId: string
  readonly severity: Severity
}

/** The severities of each service in `rows`. Pure. */
export function severitiesByService(
  rows: readonly ServiceSeverity[],
): ReadonlyMap<string, readonly Severity[]> {
  const found = new Map<string, Severity[]>()
  for (const { serviceId, severity } of rows) {
    found.set(serviceId, [...(found.get(serviceId) ?? []), severity])
  }
  return found
}
