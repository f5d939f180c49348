import { ApiError } from '../../../api/contract/apiError.ts'
import { type Html, html } from '../../../web/html.ts'
import { instant } from '../../../web/times.ts'
import { emailProblem } from '../../domain/accounts/emailAddress.ts'
import { ROLES, type Role } from '../../domain/accounts/roles.ts'
import { INVITATION_MS, newLink } from '../../domain/accounts/sessions.ts'
import { timestamp } from '../../domain/environment.ts'
import type { Member, OpenInvitation } from '../../store/accountStore.ts'
import { refusalOf } from '../forms/readForm.ts'
import { asking, problemNotice, selectField, textField } from '../frame/fields.ts'
import {
  orgAction,
  orgPage,
  type OrgRequest,
  type Page,
  type Route,
  type RouteResponse,
} from '../routing/route.ts'

const ROLE_NAMES = [
  ['viewer', 'Viewer: sees services and incidents'],
  ['member', 'Member: also changes them'],
  ['owner', 'Owner: also manages keys, secrets and members'],
] as const satisfies readonly (readonly [Role, string])[]

/** Members of an organisation, and invitations. */
export const memberRoutes: readonly Route[] = [
  orgPage('settings/members', 'manage members', (request) => list(request, {})),
  orgAction('invitations', { access: 'manage members', needsPassword: true }, invite),
  orgAction(
    'invitations/:hash/withdraw',
    { access: 'manage members', needsPassword: true },
    async ({ store, org, params, by, nowMs, root }) => {
      await store.withdrawInvitation(org.id, Buffer.from(params.hash ?? '', 'hex'), by, nowMs)
      return { kind: 'redirect', to: `${root}/settings/members`, flash: 'Invitation withdrawn.' }
    },
  ),
  orgAction('members/:id/role', { access: 'manage members', needsPassword: true }, changeRole),
  orgAction('members/:id/remove', { access: 'manage members', needsPassword: true }, (request) =>
    changed(request, 'Member removed and signed out.', async () => {
      const { store, org, params, by, nowMs } = request
      await store.removeMember({ orgId: org.id, personId: params.id ?? '', by, nowMs })
    }),
  ),
]

interface Faults {
  readonly email?: string | undefined
  /** The fault of an action on a member. */
  readonly member?: string | undefined
}

async function list(request: OrgRequest, faults: Faults): Promise<Page> {
  const { store, org, nowMs, form, actions } = request
  const members = await store.listMembers(org.id)
  const invitations = await store.listInvitations(org.id, nowMs)
  const body = html`<h1>Members</h1>
${problemNotice(faults.member)}
<section class="group" aria-labelledby="members"><h2 id="members">Members</h2>${memberTable(members, request)}</section>
<section class="group" aria-labelledby="invite"><h2 id="invite">Invite a person</h2>
<form method="post" action="${actions}/invitations">
${textField({ name: 'email', label: 'E-mail address', type: 'email', value: form.get('email') ?? '', fault: faults.email })}
${selectField({ name: 'role', label: 'Role', value: form.get('role') ?? 'member', options: ROLE_NAMES })}
<button class="main">Create link</button></form></section>
${invitations.length > 0 && invitationTable(invitations, actions)}`
  const status = faults.email === undefined && faults.member === undefined ? 200 : 422
  return { kind: 'page', title: 'Members', section: 'members', body, status }
}

function memberTable(members: readonly Member[], { actions, person }: OrgRequest): Html {
  return html`<div class="scroll" tabindex="0"><table class="stack">
<thead><tr><th scope="col">Name</th><th scope="col">E-mail</th><th scope="col">Role</th><th scope="col">Last seen</th><th scope="col">Action</th></tr></thead>
<tbody>${members.map(
    (
      member,
    ) => html`<tr><th scope="row"><bdi>${member.name}</bdi>${member.personId === person.id && ' (you)'}</th>
<td data-of="E-mail"><bdi>${member.email}</bdi></td>
<td data-of="Role"><form class="pair" method="post" action="${actions}/members/${member.personId}/role">
<select name="role" aria-label="Role of ${member.name}">${ROLES.map(
      (role) => html`<option value="${role}"${role === member.role && html` selected`}>${role}</option>`,
    )}</select> <button>Change<span class="unseen"> the role of ${member.name}</span></button></form></td>
<td data-of="Last seen">${member.seenAtMs === null ? 'Not signed in' : instant(timestamp(member.seenAtMs))}</td>
<td data-of="Action"><form method="post" action="${actions}/members/${member.personId}/remove"><button${asking(`Remove ${member.name}?`)}>Remove<span class="unseen"> ${member.name}</span></button></form></td></tr>`,
  )}</tbody></table></div>`
}

function invitationTable(invitations: readonly OpenInvitation[], actions: string): Html {
  return html`<section class="group" aria-labelledby="open"><h2 id="open">Open invitations</h2><div class="scroll" tabindex="0"><table class="stack">
<thead><tr><th scope="col">E-mail</th><th scope="col">Role</th><th scope="col">Valid until</th><th scope="col">Action</th></tr></thead>
<tbody>${invitations.map(
    ({ email, role, expiresAtMs, tokenHash }) => html`<tr><th scope="row"><bdi>${email}</bdi></th>
<td data-of="Role">${role}</td><td data-of="Valid until">${instant(timestamp(expiresAtMs))}</td>
<td data-of="Action"><form method="post" action="${actions}/invitations/${tokenHash.toString('hex')}/withdraw"><button class="danger">Withdraw<span class="unseen"> the invitation of ${email}</span></button></form></td></tr>`,
  )}</tbody></table></div></section>`
}

async function invite(request: OrgRequest): Promise<RouteResponse> {
  const { store, org, form, by, nowMs, environment, consoleUrl, root } = request
  const email = (form.get('email') ?? '').trim()
  const role = ROLES.find((one) => one === form.get('role')) ?? 'viewer'
  const problem = emailProblem(email)
  if (problem !== undefined) return list(request, { email: problem })
  const { token, ...link } = newLink(environment, INVITATION_MS)
  const refusal = await refusalOf([], () => store.invite({ ...link, orgId: org.id, email, role }, by, nowMs))
  if (refusal !== undefined) return list(request, { email: refusal[''] })
  const title = 'Invitation'
  const body = html`<h1>${title}</h1>
<p>Send this link to <bdi>${email}</bdi>. It is shown only once, works once, and expires on ${instant(timestamp(link.expiresAtMs))}.</p>
<div class="group"><p class="secret"><code id="link">${consoleUrl}/invite/${token}</code></p>
<p><button type="button" data-copy="link" hidden>Copy</button></p></div>
<p><a class="button" href="${root}/settings/members">Done</a></p>`
  return { kind: 'page', title, section: 'members', body }
}

function changeRole(request: OrgRequest): Promise<RouteResponse> {
  const { store, org, params, form, by, nowMs } = request
  const role = ROLES.find((one) => one === form.get('role'))
  return changed(request, 'Role changed.', async () => {
    if (role === undefined) throw new ApiError('invalid', `the role must be ${ROLES.join(', ')}`)
    await store.changeRole({ orgId: org.id, personId: params.id ?? '', role, by, nowMs })
  })
}

/** Runs a change of a member; shows a refusal on the members page. */
async function changed(
  request: OrgRequest,
  flash: string,
  work: () => Promise<void>,
): Promise<RouteResponse> {
  const refusal = await refusalOf([], work)
  if (refusal !== undefined) return list(request, { member: refusal[''] })
  return { kind: 'redirect', to: `${request.root}/settings/members`, flash }
}
