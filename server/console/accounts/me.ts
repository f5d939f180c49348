import { type Html, html } from '../../../web/html.ts'
import { instant } from '../../../web/times.ts'
import { passwordProblem } from '../../domain/accounts/passwordRules.ts'
import { timestamp } from '../../domain/environment.ts'
import { COLOUR_SCHEMES, type StoredSession } from '../../store/accountStore.ts'
import { accountField, passwordField, selectField } from '../frame/fields.ts'
import type { RouteResponse, Page, PersonRequest, Route } from '../routing/route.ts'
import { passwordRefusal } from './passwordCheck.ts'
import { openSession } from './session.ts'

/** The account page: password, sessions, colour scheme. */
export const meRoutes: readonly Route[] = [
  { method: 'GET', path: '/me', access: 'signed in', handle: (request) => show(request, {}) },
  { method: 'POST', path: '/api/me/password', access: 'signed in', handle: changePassword },
  {
    method: 'POST',
    path: '/api/me/look',
    access: 'signed in',
    handle: async ({ store, person, form }) => {
      await store.setColourScheme(
        person.id,
        COLOUR_SCHEMES.find((look) => look === form.get('look')) ?? 'auto',
      )
      return { kind: 'redirect', to: '/me', flash: 'Colours saved.' }
    },
  },
  {
    method: 'POST',
    path: '/api/me/sessions/:id/end',
    access: 'signed in',
    handle: async ({ store, person, params }) => {
      await store.endSession(person.id, Buffer.from(params.id ?? '', 'hex'))
      return { kind: 'redirect', to: '/me', flash: 'Session ended.' }
    },
  },
]

interface Faults {
  readonly current?: string | undefined
  readonly next?: string | undefined
  /** 422 when absent. */
  readonly status?: number
  readonly retryAfterS?: number
}

async function show(request: PersonRequest, faults: Faults): Promise<Page> {
  const { store, person, session, nowMs } = request
  const sessions = await store.sessionsOf(person.id, nowMs)
  const body = html`<h1><bdi>${person.name}</bdi></h1>
<p class="quiet"><bdi>${person.email}</bdi></p>
<section class="group" aria-labelledby="password"><h2 id="password">Password</h2>
<form method="post" action="/api/me/password">${accountField(person.email)}
${passwordField({ name: 'current', label: 'Current password', autocomplete: 'current-password', fault: faults.current })}
${passwordField({
  ...{ name: 'next', label: 'New password', autocomplete: 'new-password', fault: faults.next },
  hint: 'At least 12 characters. Ends all other sessions.',
})}
<button class="main">Change password</button></form></section>
<section class="group" aria-labelledby="sessions"><h2 id="sessions">Sessions</h2>${sessionTable(sessions, session)}</section>
<section class="group" aria-labelledby="look"><h2 id="look">Colours</h2>
<form method="post" action="/api/me/look">
${selectField({ name: 'look', label: 'Colours', value: person.look, options: COLOUR_SCHEME_NAMES })}
<button>Save</button></form></section>`
  const { current, next, status = 422, retryAfterS } = faults
  const page = { kind: 'page', title: 'Account', body } as const
  if (current === undefined && next === undefined) return page
  return { ...page, status, ...(retryAfterS !== undefined && { retryAfterS }) }
}

const COLOUR_SCHEME_NAMES = [
  ['auto', 'Same as device'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const

function sessionTable(sessions: readonly StoredSession[], current: StoredSession): Html {
  return html`<div class="scroll" tabindex="0"><table class="stack">
<thead><tr><th scope="col">Browser</th><th scope="col">Signed in</th><th scope="col">Last seen</th><th scope="col">Action</th></tr></thead>
<tbody>${sessions.map(
    ({ idHash, browser, createdAtMs, seenAtMs }) => html`<tr><th scope="row">${browser}</th>
<td data-of="Signed in">${instant(timestamp(createdAtMs))}</td><td data-of="Last seen">${instant(timestamp(seenAtMs))}</td>
<td data-of="Action">${
      idHash.equals(current.idHash)
        ? 'This session'
        : html`<form method="post" action="/api/me/sessions/${idHash.toString('hex')}/end"><button class="danger">End<span class="unseen"> the session of ${browser}</span></button></form>`
    }</td></tr>`,
  )}</tbody></table></div>`
}

const WRONG = 'This is not your password'

async function changePassword(request: PersonRequest): Promise<RouteResponse> {
  const { store, person, form, passwords, throttle, by, nowMs } = request
  const next = form.get('next') ?? ''
  const stored = (await store.passwordHashOf(person.id)) ?? null
  const attempt = { kind: 'person', personId: person.id } as const
  const check = () => passwords.matches(form.get('current') ?? '', stored, person.id)
  const refusal = await passwordRefusal(throttle, attempt, { check, wrong: WRONG })
  if (refusal !== undefined) {
    const { fault: current, ...when } = refusal
    return show(request, { current, ...when })
  }
  const problem = passwordProblem(next, person.email)
  if (problem !== undefined) return show(request, { next: problem })
  const passwordHash = await passwords.hash(next)
  const change = { personId: person.id, from: stored, passwordHash, by, nowMs }
  if (!(await store.setPassword(change))) return show(request, { current: WRONG })
  const cookie = await openSession(request, person.id, passwordHash)
  const flash = 'Password changed. All other sessions have ended.'
  return { kind: 'redirect', to: '/me', flash, cookies: cookie === undefined ? [] : [cookie] }
}
