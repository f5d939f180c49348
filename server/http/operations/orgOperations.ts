import type { Org } from '../../../api/contract/org.ts'
import { REGIONS } from '../../domain/regions.ts'
import type { Operation } from './operation.ts'

const REGIONS_TEXT = JSON.stringify(REGIONS)

/** The two operations for the organisation and the regions. Contract: Endpoints. */
export const orgOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/v1/org',
    takesBody: false,
    handle: async ({ caller }) => {
      const org: Org = { id: caller.orgId, name: caller.orgName, plan: caller.plan, scope: caller.scope }
      return { status: 200, text: JSON.stringify(org) }
    },
  },
  {
    method: 'GET',
    path: '/v1/regions',
    takesBody: false,
    handle: async () => ({ status: 200, text: REGIONS_TEXT }),
  },
]
