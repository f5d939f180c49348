import { homeRoutes } from './accounts/home.ts'
import { invitationRoutes } from './accounts/invitation.ts'
import { signInRoutes } from './accounts/signIn.ts'
import type { Route } from './routing/route.ts'
import { organisationRoutes } from './settings/organisation.ts'

/** All routes of the console. */
export const consoleRoutes: readonly Route[] = [
  ...homeRoutes,
  ...signInRoutes,
  ...invitationRoutes,
  ...organisationRoutes,
]
