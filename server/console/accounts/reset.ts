import { html } from '../../../web/html.ts'
import { passwordProblem } from '../../domain/accounts/passwordRules.ts'
import { hashToken } from '../../domain/accounts/sessions.ts'
import type { Person } from '../../store/accountStore.ts'
import { accountField, passwordField } from '../frame/fields.ts'
import { messagePage } from '../routing/messagePages.ts'
import type { RouteResponse, OpenRequest, Page, Route } from '../routing/route.ts'

/** Setting a new password with a link of `pharos-server person reset`. */
export const resetRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/reset/:token',
    access: 'anyone',
    handle: async ({ store, params, nowMs }) => {
      const token = params.token ?? ''
      const person = await store.personOfReset(hashToken(token), nowMs)
      return person === undefined ? EXPIRED : page(token, person, undefined)
    },
  },
  { method: 'POST', path: '/api/resets/:token', access: 'anyone', handle: reset },
]

const EXPIRED = messagePage(410, 'Link not valid', 'This link has expired or was used. Ask for a new one.')

async function reset({ store, params, form, passwords, nowMs }: OpenRequest): Promise<RouteResponse> {
  const token = params.token ?? ''
  const password = form.get('password') ?? ''
  const person = await store.personOfReset(hashToken(token), nowMs)
  if (person === undefined) return EXPIRED
  const problem = passwordProblem(password, person.email)
  if (problem !== undefined) return page(token, person, problem)
  const changed = await store.resetPassword(hashToken(token), await passwords.hash(password), nowMs)
  if (changed === undefined) return EXPIRED
  return { kind: 'redirect', to: '/login', flash: 'Password changed. Sign in with the new one.' }
}

function page(token: string, { email }: Person, fault: string | undefined): Page {
  const title = 'New password'
  const body = html`<h1>${title}</h1>
<form method="post" action="/api/resets/${token}" class="group">
${accountField(email)}
${passwordField({
  ...{ name: 'password', label: 'New password', autocomplete: 'new-password', fault },
  hint: 'At least 12 characters. Ends all your sessions.',
})}
<button class="main">Set password</button></form>`
  return { kind: 'page', title, body, ...(fault === undefined ? {} : { status: 422 }) }
}
