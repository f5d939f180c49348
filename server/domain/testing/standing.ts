import type { OrgStanding, OrgUsage, PlanLimits } from '../planLimits.ts'

/** An organisation that may have two active services, and uses nothing unless `usage` says so. */
export function standing(limits: Partial<PlanLimits> = {}, usage: Partial<OrgUsage> = {}): OrgStanding {
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
