import type { OrgQuota, OrgUsage, PlanLimits } from '../planLimits.ts'

/** An organisation that may have two active services, and uses nothing unless `usage` says so. */
export function quota(limits: Partial<PlanLimits> = {}, usage: Partial<OrgUsage> = {}): OrgQuota {
  return {
    orgId: 'org',
    limits: {
      servicesMax: 2,
      endpointsMax: 5,
      serviceEndpointsMax: 3,
      intervalSecsMin: 30,
      incidentsMibMax: 1,
      resultsDays: 7,
      regionsAllowed: ['eu-west-1', 'us-east-1'],
      ...limits,
    },
    usage: { activeServices: 0, activeEndpoints: 0, storedServices: 0, ...usage },
    autoIncidents: null,
  }
}
