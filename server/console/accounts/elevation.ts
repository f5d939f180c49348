import { html } from '../../../web/html.ts'
import { hashToken, isElevated, newToken } from '../../domain/accounts/sessions.ts'
import type { Person } from '../../store/accountStore.ts'
import { accountField, carriedFields, passwordField } from '../frame/fields.ts'
import { pageOfError } from '../routing/pageOfError.ts'
import { NOT_FOUND_PAGE, signInAgainPage } from '../routing/messagePages.ts'
import type { RouteResponse, ConsoleRequest, SignedIn } from '../routing/route.ts'
import { type PasswordRefusal, passwordRefusal } from './passwordCheck.ts'
import { sessionCookie } from './session.ts'

/** Field of the form that asks for the password. */
const PASSWORD_FIELD = 'your_password'

/**
 * Runs `act` if the password was given in the last 15 minutes. Otherwise asks for it, in a form that also carries the
 * fields of the action. A correct password gives the session a new id.
 */
export async function confirmPassword(
  asked: ConsoleRequest,
  { person, session }: SignedIn,
  act: () => Promise<RouteResponse>,
): Promise<RouteResponse> {
  const { store, nowMs, form, passwords, throttle, environment } = asked
  if (isElevated(session, nowMs)) return act()
  const password = form.get(PASSWORD_FIELD)
  if (password === null) return passwordPage(asked, person, undefined)
  const stored = (await store.passwordHashOf(person.id)) ?? null
  const attempt = { kind: 'person', personId: person.id } as const
  const check = () => passwords.matches(password, stored, person.id)
  const refusal = await passwordRefusal(throttle, attempt, { check, wrong: 'This is not your password' })
  if (refusal !== undefined) return passwordPage(asked, person, refusal)
  const token = newToken(environment.randomBytes)
  // The role may have been lowered, or the session ended, during the check.
  if (!(await store.elevateSession(session.idHash, hashToken(token), nowMs))) return signInAgainPage()
  // Even if the action fails: without the new id, the browser would be signed out.
  const outcome = await act().catch((error: unknown) => pageOfError(error, asked.onError))
  const response = outcome.kind === 'not found' ? NOT_FOUND_PAGE : outcome
  if (response.kind !== 'page' && response.kind !== 'redirect') return response
  return { ...response, cookies: [...(response.cookies ?? []), sessionCookie(token)] }
}

function passwordPage(
  { form, url }: ConsoleRequest,
  { email }: Person,
  refusal: PasswordRefusal | undefined,
): RouteResponse {
  const title = 'Confirm your password'
  return {
    ...{ kind: 'page', status: refusal?.status ?? 403, title },
    ...(refusal?.retryAfterS !== undefined && { retryAfterS: refusal.retryAfterS }),
    body: html`<h1>${title}</h1>
<p>Enter your password to continue. You will not be asked again for 15 minutes.</p>
<form method="post" action="${url}" class="group">
${carriedFields(form, PASSWORD_FIELD)}
${accountField(email)}
${passwordField({ name: PASSWORD_FIELD, label: 'Password', autocomplete: 'current-password', fault: refusal?.fault })}
<button class="main">Continue</button>
</form>`,
  }
}
