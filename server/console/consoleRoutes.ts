import { homeRoutes } from './accounts/home.ts'
import { invitationRoutes } from './accounts/invitation.ts'
import { meRoutes } from './accounts/me.ts'
import { resetRoutes } from './accounts/reset.ts'
import { signInRoutes } from './accounts/signIn.ts'
import { channelRoutes } from './channels/channels.ts'
import { incidentRoutes } from './incidents/incidents.ts'
import { maintenanceRoutes } from './maintenance/maintenance.ts'
import type { Route } from './routing/route.ts'
import { serviceRoutes } from './services/serviceRoutes.ts'
import { auditRoutes } from './settings/audit.ts'
import { keyRoutes } from './settings/keys.ts'
import { memberRoutes } from './settings/members.ts'
import { organisationRoutes } from './settings/organisation.ts'
import { statusPageRoutes } from './statusPages/statusPages.ts'
import { syncRoutes } from './sync/syncPage.ts'

/** All routes of the console. */
export const consoleRoutes: readonly Route[] = [
  ...homeRoutes,
  ...signInRoutes,
  ...invitationRoutes,
  ...resetRoutes,
  ...meRoutes,
  ...incidentRoutes,
  ...maintenanceRoutes,
  ...statusPageRoutes,
  ...channelRoutes,
  ...syncRoutes,
  ...serviceRoutes,
  ...keyRoutes,
  ...memberRoutes,
  ...organisationRoutes,
  ...auditRoutes,
]
