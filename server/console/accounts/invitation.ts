import { readableTextProblem } from '../../../api/contract/text.ts'
import { type Html, html } from '../../../web/html.ts'
import { passwordProblem } from '../../domain/accounts/passwordRules.ts'
import { hashToken } from '../../domain/accounts/sessions.ts'
import type { OpenInvitation } from '../../store/accountStore.ts'
import { accountField, passwordField, textField } from '../frame/fields.ts'
import { messagePage } from '../routing/messagePages.ts'
import type { RouteResponse, OpenRequest, Route } from '../routing/route.ts'
import { deviceCookie } from './device.ts'
import { openSession } from './session.ts'

/** Longest name of a person (code points). */
const NAME_CHARS_MAX = 100

/** Accepting an invitation. Opening the link changes nothing, because e-mail scanners open links too. */
export const invitationRoutes: readonly Route[] = [
  { method: 'GET', path: '/invite/:token', access: 'anyone', handle: show },
  { method: 'POST', path: '/api/invitations/:token', access: 'anyone', handle: accept },
]

const EXPIRED = messagePage(
  410,
  'Invitation not valid',
  'This invitation has expired, or was used or withdrawn. Ask for a new one.',
)

function tokenHashOf({ params }: OpenRequest): Buffer {
  return hashToken(params.token ?? '')
}

async function show(request: OpenRequest): Promise<RouteResponse> {
  const invitation = await request.store.invitationOf(tokenHashOf(request), request.nowMs)
  return invitation === undefined ? EXPIRED : page(request, invitation)
}

async function accept(request: OpenRequest): Promise<RouteResponse> {
  const { store, nowMs, signedIn } = request
  const tokenHash = tokenHashOf(request)
  const invitation = await store.invitationOf(tokenHash, nowMs)
  if (invitation === undefined) return EXPIRED
  if (invitation.personId === null) return acceptAsNew(request, invitation)
  if (signedIn?.person.id !== invitation.personId) return page(request, invitation)
  const acceptance = { kind: 'person', personId: invitation.personId } as const
  const joined = await store.acceptInvitation(tokenHash, acceptance, nowMs)
  return joined === undefined ? EXPIRED : welcome(joined)
}

async function acceptAsNew(request: OpenRequest, invitation: OpenInvitation): Promise<RouteResponse> {
  const { store, nowMs, form, passwords, environment } = request
  const name = (form.get('name') ?? '').trim()
  const password = form.get('password') ?? ''
  const faults = {
    name: readableTextProblem(name, { charsMax: NAME_CHARS_MAX, lines: 'one line' }),
    password: passwordProblem(password, invitation.email),
  }
  if (faults.name !== undefined || faults.password !== undefined) {
    return page(request, invitation, { name, faults })
  }
  const personId = environment.uuid()
  const passwordHash = await passwords.hash(password)
  const acceptance = { kind: 'new', personId, name, passwordHash } as const
  const joined = await store.acceptInvitation(invitation.tokenHash, acceptance, nowMs)
  if (joined === undefined) return EXPIRED
  const cookie = await openSession(request, personId, passwordHash)
  const cookies = [...(cookie === undefined ? [] : [cookie]), await deviceCookie(request, personId)]
  return { ...welcome(joined), cookies }
}

function welcome({ orgId, orgName, role }: OpenInvitation) {
  const flash = `You are now ${role} of ${orgName}.`
  return { kind: 'redirect', to: `/o/${orgId}`, flash } as const
}

interface Filled {
  readonly name: string
  readonly faults: { readonly name: string | undefined; readonly password: string | undefined }
}

function page(request: OpenRequest, invitation: OpenInvitation, filled?: Filled): RouteResponse {
  const title = `Join ${invitation.orgName}`
  const body = html`<h1>${title}</h1>
<p>You are invited as ${invitation.role}, with the address <bdi>${invitation.email}</bdi>.</p>
${form(request, invitation, filled)}`
  return filled === undefined ? { kind: 'page', title, body } : { kind: 'page', status: 422, title, body }
}

function form({ params, signedIn }: OpenRequest, { email, personId }: OpenInvitation, filled?: Filled): Html {
  const token = params.token ?? ''
  if (personId !== null && signedIn?.person.id !== personId) {
    const other = signedIn !== undefined && html`You are signed in as <bdi>${signedIn.person.email}</bdi>. `
    return html`<p>${other}This address has an account: <a href="/login?next=/invite/${token}">sign in</a> with it to accept.</p>`
  }
  return html`<form method="post" action="/api/invitations/${token}" class="group">
${
  personId === null &&
  html`${accountField(email)}
${textField({ name: 'name', label: 'Your name', value: filled?.name, autocomplete: 'name', fault: filled?.faults.name })}
${passwordField({
  ...{ name: 'password', label: 'New password', autocomplete: 'new-password' },
  hint: 'At least 12 characters.',
  fault: filled?.faults.password,
})}`
}
<button class="main">Accept invitation</button>
</form>`
}
