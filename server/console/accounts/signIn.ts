import { type Html, html } from '../../../web/html.ts'
import { foldedEmail } from '../../domain/accounts/emailAddress.ts'
import { passwordField, textField } from '../frame/fields.ts'
import { SESSION_COOKIE } from '../routing/cookies.ts'
import type { RouteResponse, OpenRequest, Route } from '../routing/route.ts'
import { safePath } from '../routing/safePath.ts'
import { deviceCookie, knownDevice } from './device.ts'
import { type PasswordRefusal, passwordRefusal } from './passwordCheck.ts'
import { openSession } from './session.ts'

/** Signing in and out. */
export const signInRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/login',
    access: 'anyone',
    handle: async ({ signedIn, query }) => {
      const next = safePath(query.get('next'))
      // An invitation may be for another account than that of the session.
      if (signedIn !== undefined && !next.startsWith('/invite/')) return { kind: 'redirect', to: next }
      return { kind: 'page', title: 'Sign in', body: signInForm({ next, email: '', fault: undefined }) }
    },
  },
  { method: 'POST', path: '/api/sessions', access: 'anyone', handle: signIn },
  {
    method: 'POST',
    path: '/api/sessions/end',
    access: 'anyone',
    handle: async ({ signedIn, store }) => {
      if (signedIn !== undefined) await store.endSession(signedIn.person.id, signedIn.session.idHash)
      const cookies = [{ name: SESSION_COOKIE, value: '' }]
      return { kind: 'redirect', to: '/login', flash: 'You are signed out.', cookies, isEnd: true }
    },
  },
]

const WRONG: PasswordRefusal = { status: 422, fault: 'E-mail address and password do not match' }

async function signIn(request: OpenRequest): Promise<RouteResponse> {
  const { store, form, signedIn, passwords } = request
  const [email, password] = [form.get('email') ?? '', form.get('password') ?? '']
  const next = safePath(form.get('next'))
  const found = await store.personWithEmail(email)
  const again = ({ status, fault, retryAfterS }: PasswordRefusal): RouteResponse => ({
    ...{ kind: 'page', status, title: 'Sign in', body: signInForm({ next, email, fault }) },
    ...(retryAfterS !== undefined && { retryAfterS }),
  })
  const refusal = await checkPassword(request, found, password)
  const passwordHash = found?.passwordHash ?? null
  if (refusal !== undefined || found === undefined || passwordHash === null) return again(refusal ?? WRONG)
  const { person } = found
  const session = await openSession(request, person.id, passwordHash)
  if (session === undefined) return again(WRONG)
  if (signedIn !== undefined) await store.endSession(signedIn.person.id, signedIn.session.idHash)
  if (passwords.isOutdated(passwordHash)) {
    await store.replacePasswordHash(person.id, passwordHash, await passwords.hash(password))
  }
  return { kind: 'redirect', to: next, cookies: [session, await deviceCookie(request, person.id)] }
}

type Found = Awaited<ReturnType<OpenRequest['store']['personWithEmail']>>

/** Checks the password of a known or unknown account, within the limits of the client. */
async function checkPassword(request: OpenRequest, found: Found, password: string) {
  const { form, network, passwords, throttle } = request
  const stored = found?.passwordHash ?? null
  const device = found === undefined ? undefined : await knownDevice(request, found.person.id)
  const email = foldedEmail(form.get('email') ?? '')
  return passwordRefusal(
    throttle,
    device === undefined ? { kind: 'stranger', network, email } : { kind: 'device', device },
    { check: () => passwords.matches(password, stored, email), wrong: WRONG.fault },
  )
}

function signInForm({
  next,
  email,
  fault,
}: {
  readonly next: string
  readonly email: string
  readonly fault: string | undefined
}): Html {
  return html`<h1>Sign in</h1>
<form method="post" action="/api/sessions" class="group">
<input type="hidden" name="next" value="${next}">
${textField({ name: 'email', label: 'E-mail address', type: 'email', value: email, autocomplete: 'username' })}
${passwordField({ name: 'password', label: 'Password', autocomplete: 'current-password', fault })}
<button class="main">Sign in</button>
</form>
<p class="quiet">No account? An owner of your organisation can invite you. The operator of this server can reset a lost password.</p>`
}
