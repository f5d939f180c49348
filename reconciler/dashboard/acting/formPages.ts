import { type Html, html } from '../../../web/html.ts'
import { TEXT_CHARS_MAX } from '../../controller/http/apiRoutes.ts'
import type { ControllerStatus, SetStatus } from '../../controller/status/status.ts'
import { framed } from '../frame.ts'
import type { PageRequest } from '../viewer.ts'

/** Choices for the duration of a suspension (hours); null for no end. */
export const SUSPENSION_CHOICES: Readonly<
  Record<string, { readonly text: string; readonly hours: number | null }>
> = {
  '1h': { text: '1 hour', hours: 1 },
  '4h': { text: '4 hours', hours: 4 },
  '24h': { text: '1 day', hours: 24 },
  '168h': { text: '7 days', hours: 168 },
  none: { text: 'Until it is resumed', hours: null },
}

/** Content of the page for sign-in. */
export interface SignInForm {
  /** Error of the last attempt; null for none. */
  readonly problem: string | null
  /** Name of the set whose page comes next; null for the first page. */
  readonly set: string | null
  readonly name: string
}

/** The form for a name and the token. Pure. */
export function signInPage({ problem, set, name }: SignInForm, status: ControllerStatus): string {
  return formPage(
    { status, viewer: { kind: 'none' } },
    'Sign in',
    './',
    html`${problem !== null && html`<p class="condition c-bad" role="alert" tabindex="-1" autofocus>${problem}</p>`}
<form class="fields" method="post" action="sign-in">
${set !== null && html`<input type="hidden" name="set" value="${set}">`}
<p><label for="name">Your name</label><input id="name" name="name" value="${name}" required maxlength="${TEXT_CHARS_MAX}" autocomplete="name" aria-describedby="name-use"><span class="quiet" id="name-use">Recorded with everything that you do.</span></p>
<p><label for="token">Token of the controller</label><input id="token" name="token" type="password" required autocomplete="current-password" aria-describedby="token-use"><span class="quiet" id="token-use">The <code>apiToken</code> of the configuration.</span></p>
<p><button class="main">Sign in</button></p>
</form>`,
  )
}

/** The form for the reason and the duration of a suspension. Pure. */
export function suspendPage({ name }: SetStatus, page: Pick<PageRequest, 'status' | 'viewer'>): string {
  const self = encodeURIComponent(name)
  return formPage(
    page,
    `Suspend ${name}`,
    '../../',
    html`<p>While the set is suspended, the controller changes none of its services. A run under way stops after the change that it makes now.</p>
<form class="fields" method="post" action="suspend">
<p><label for="reason">Reason</label><input id="reason" name="reason" required maxlength="${TEXT_CHARS_MAX}" autocomplete="off" aria-describedby="reason-use"><span class="quiet" id="reason-use">Shown on the page of the set.</span></p>
<p><label for="for">For</label><select id="for" name="for">${Object.entries(SUSPENSION_CHOICES).map(([value, { text }]) => html`<option value="${value}">${text}</option>`)}</select></p>
<p class="buttons"><button class="main">Suspend</button> <a href="../${self}">Cancel</a></p>
</form>`,
  )
}

function formPage(
  { status, viewer }: Pick<PageRequest, 'status' | 'viewer'>,
  title: string,
  root: './' | '../../',
  form: Html,
): string {
  return framed({
    status,
    viewer,
    title: `${title} · Pharos`,
    heading: html`<h1>${title}</h1>`,
    root,
    self: null,
    isRefreshing: false,
    content: html`<div class="sheet">${form}</div>`,
  })
}
