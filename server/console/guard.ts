import { isPermitted } from '../domain/accounts/roles.ts'
import { ResultsBusyError } from '../results/threads/resultsBusyError.ts'
import type { Membership } from '../store/accountStore.ts'
import { confirmPassword } from './accounts/elevation.ts'
import { QUESTION_FIELD } from './frame/fields.ts'
import type { Notices } from './frame/notices.ts'
import { noticesOf } from './live/noticesOf.ts'
import { forbiddenPage, questionPage, signInAgainPage } from './routing/messagePages.ts'
import {
  type RouteResponse,
  type ConsoleRequest,
  isOrgRoute,
  type OrgRoute,
  type Route,
  type SignedIn,
} from './routing/route.ts'

/** The response to a request, and its person and organisation. */
export interface GuardedResult {
  readonly response: RouteResponse
  readonly signedIn: SignedIn | undefined
  /** The organisation of the route, if the person is a member. */
  readonly org: Membership | undefined
  /** Warnings; absent unless the response is a page of the organisation. */
  readonly notices?: Notices
}

/**
 * Runs the handler of a route if the request has the required session, membership, permission and recent password. The
 * organisation of others gets the response of an unknown one. Gap G54.
 */
export async function runGuarded(
  route: Route,
  consoleRequest: ConsoleRequest,
  signedIn: SignedIn | undefined,
): Promise<GuardedResult> {
  const outside = (response: RouteResponse): GuardedResult => ({ response, signedIn, org: undefined })
  if (route.access === 'anyone') return outside(await route.handle({ ...consoleRequest, signedIn }))
  if (signedIn === undefined) return outside(askForSignIn(route, consoleRequest))
  const by = { kind: 'person', id: signedIn.person.id } as const
  if (!isOrgRoute(route)) return outside(await route.handle({ ...consoleRequest, ...signedIn, by }))
  const org = signedIn.memberships.find(({ orgId }) => orgId === consoleRequest.params.org)
  if (org === undefined) return outside({ kind: 'not found' })
  const { response, areResultsBusy } = await withoutBusyResults(route, consoleRequest, (request) =>
    asMember(route, request, { signedIn, org }),
  )
  if (response.kind !== 'page') return { response, signedIn, org }
  const notices = { ...(await noticesOf(consoleRequest, org.orgId, consoleRequest.nowMs)), areResultsBusy }
  return { response, signedIn, org, notices }
}

/** The response of `handle`. While results cannot be read, a page is rendered without them; changes are not retried. */
async function withoutBusyResults(
  { method }: Route,
  asked: ConsoleRequest,
  handle: (consoleRequest: ConsoleRequest) => Promise<RouteResponse>,
) {
  try {
    return { response: await handle(asked), areResultsBusy: false }
  } catch (error) {
    if (!(error instanceof ResultsBusyError) || method !== 'GET') throw error
    const readServices = (orgId: string) => asked.index.readServices(orgId)
    const index = { read: readServices, readServices }
    return { response: await handle({ ...asked, measurements: undefined, index }), areResultsBusy: true }
  }
}

function askForSignIn({ method }: Route, { url }: ConsoleRequest): RouteResponse {
  if (method === 'POST' || url.startsWith('/api/')) return signInAgainPage()
  return { kind: 'redirect', to: `/login?next=${encodeURIComponent(url)}` }
}

async function asMember(
  route: OrgRoute,
  asked: ConsoleRequest,
  { signedIn, org }: { readonly signedIn: SignedIn; readonly org: Membership },
): Promise<RouteResponse> {
  const { orgId: id, orgName: name, plan, role } = org
  if (!isPermitted(role, route.access)) return forbiddenPage(role)
  const { person, session } = signedIn
  const root = `/o/${id}`
  const question = asked.form.get(QUESTION_FIELD)
  if (question !== null) return questionPage({ ...asked, root }, question)
  const handle = () =>
    route.handle({
      ...asked,
      ...{ person, session, role, org: { id, name, plan } },
      root,
      actions: `/api/o/${id}`,
      by: { kind: 'person', id: person.id },
      may: (permission) => isPermitted(role, permission),
    })
  return route.needsPassword === true ? confirmPassword(asked, signedIn, handle) : handle()
}
