import { isPermitted } from '../domain/accounts/roles.ts'
import { ResultsBusyError } from '../results/threads/resultsBusyError.ts'
import type { Membership } from '../store/accountStore.ts'
import type { Notices } from './frame/notices.ts'
import { noticesOf } from './live/noticesOf.ts'
import { confirmPassword } from './accounts/elevation.ts'
import {
  type Answer,
  type Asked,
  isOrgRoute,
  type OrgRoute,
  type Route,
  type SignedIn,
} from './routing/route.ts'
import { forbiddenPage, signInAgainPage } from './routing/messagePages.ts'

/** What a request leads to: the answer, and whose page it is. */
export interface Guarded {
  readonly answer: Answer
  readonly signedIn: SignedIn | undefined
  /** The organisation of the route, if the person is a member. */
  readonly org: Membership | undefined
  /** What the page warns of; absent unless the answer is a page of the organisation. */
  readonly notices?: Notices
}

/**
 * Decides whether a request reaches the handler of its route: with a session where one is needed, as a member of the
 * organisation, with the permission, and with the password given recently where that is needed. An organisation of
 * others is answered like an unknown one. Gap G54.
 */
export async function guarded(route: Route, asked: Asked, signedIn: SignedIn | undefined): Promise<Guarded> {
  const outside = (answer: Answer): Guarded => ({ answer, signedIn, org: undefined })
  if (route.access === 'anyone') return outside(await route.handle({ ...asked, signedIn }))
  if (signedIn === undefined) return outside(askForSignIn(route, asked))
  const by = { kind: 'person', id: signedIn.person.id } as const
  if (!isOrgRoute(route)) return outside(await route.handle({ ...asked, ...signedIn, by }))
  const org = signedIn.memberships.find(({ orgId }) => orgId === asked.params.org)
  if (org === undefined) return outside({ kind: 'not found' })
  const { answer, areResultsBusy } = await withoutBusyResults(route, asked, (request) =>
    asMember(route, request, { signedIn, org }),
  )
  if (answer.kind !== 'page') return { answer, signedIn, org }
  const notices = { ...(await noticesOf(asked, org.orgId, asked.nowMs)), areResultsBusy }
  return { answer, signedIn, org, notices }
}

/** What `handle` answers; a page is made without results while they cannot be read. Nothing is changed twice. */
async function withoutBusyResults(
  { method }: Route,
  asked: Asked,
  handle: (asked: Asked) => Promise<Answer>,
) {
  try {
    return { answer: await handle(asked), areResultsBusy: false }
  } catch (error) {
    if (!(error instanceof ResultsBusyError) || method !== 'GET') throw error
    const readServices = (orgId: string) => asked.index.readServices(orgId)
    const index = { read: readServices, readServices }
    return { answer: await handle({ ...asked, measurements: undefined, index }), areResultsBusy: true }
  }
}

function askForSignIn({ method }: Route, { url }: Asked): Answer {
  if (method === 'POST' || url.startsWith('/api/')) return signInAgainPage()
  return { kind: 'redirect', to: `/login?next=${encodeURIComponent(url)}` }
}

async function asMember(
  route: OrgRoute,
  asked: Asked,
  { signedIn, org }: { readonly signedIn: SignedIn; readonly org: Membership },
): Promise<Answer> {
  const { orgId: id, orgName: name, plan, role } = org
  if (!isPermitted(role, route.access)) return forbiddenPage(role)
  const { person, session } = signedIn
  const handle = () =>
    route.handle({
      ...asked,
      ...{ person, session, role, org: { id, name, plan } },
      root: `/o/${id}`,
      actions: `/api/o/${id}`,
      by: { kind: 'person', id: person.id },
      may: (permission) => isPermitted(role, permission),
    })
  return route.needsPassword === true ? confirmPassword(asked, signedIn, handle) : handle()
}
