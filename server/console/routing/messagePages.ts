import { html } from '../../../web/html.ts'
import type { Role } from '../../domain/accounts/roles.ts'
import { carriedFields, QUESTION_FIELD } from '../frame/fields.ts'
import type { OrgRequest, Page } from './route.ts'

/** A page with a message about a problem. Pure. */
export function messagePage(status: number, title: string, text: string): Page {
  return { kind: 'page', status, title, body: html`<h1>${title}</h1><p>${text}</p>` }
}

/** The page for an unknown path or object. */
export const NOT_FOUND_PAGE = messagePage(404, 'Not found', 'There is no such page.')

/** The page for a role without the permission. Pure. */
export function forbiddenPage(role: Role): Page {
  return messagePage(403, 'Not permitted', `Your role here is ${role}. Ask an owner for a higher role.`)
}

/** The page that asks `question` before the action of the request, in a form that carries its fields. Pure. */
export function questionPage(
  { form, url, root }: Pick<OrgRequest, 'form' | 'url' | 'root'>,
  question: string,
): Page {
  const title = 'Confirm'
  return {
    ...{ kind: 'page', title },
    body: html`<h1>${title}</h1>
<p><bdi>${question}</bdi></p>
<form method="post" action="${url}" class="group">${carriedFields(form, QUESTION_FIELD)}
<p class="row"><button class="danger">Continue</button><a class="button" href="${root}">Cancel</a></p></form>`,
  }
}

/** The page for an action after the session has ended. Pure. */
export function signInAgainPage(): Page {
  const title = 'Signed out'
  return {
    ...{ kind: 'page', status: 401, title },
    body: html`<h1>${title}</h1><p>Your session has ended, and nothing was changed.</p>
<p><a href="/login" target="_blank" rel="noopener">Sign in in a new tab</a>, then reload this page to send your input again.</p>`,
  }
}

/** The page for a person with too many concurrent requests. */
export const TOO_MANY_AT_ONCE: Page = {
  ...messagePage(429, 'Too many requests', 'You have too many requests in progress. Try again in a moment.'),
  ...{ retryAfterS: 1, mayResend: true },
}
