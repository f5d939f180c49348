import { SCOPES } from '../../../api/contract/org.ts'
import { readableTextProblem } from '../../../api/contract/text.ts'
import { type Html, html } from '../../../web/html.ts'
import { instant } from '../../../web/times.ts'
import { newKey } from '../../domain/apiKeys.ts'
import { timestamp } from '../../domain/environment.ts'
import type { StoredKey } from '../../store/store.ts'
import { refusalOf } from '../forms/readForm.ts'
import { asking, selectField, textField } from '../frame/fields.ts'
import {
  orgAction,
  orgPage,
  type OrgRequest,
  type Page,
  type Route,
  type RouteResponse,
} from '../routing/route.ts'

const REVOKED_SHOWN = 100
/** Longest note of a key (code points). */
const NOTE_CHARS_MAX = 200

/** API keys, each shown once. Contract: Authentication, rule 4. */
export const keyRoutes: readonly Route[] = [
  orgPage('settings/keys', 'manage keys', (request) => list(request)),
  orgAction('keys', { access: 'manage keys', needsPassword: true }, mint),
  orgAction(
    'keys/:id/revoke',
    { access: 'manage keys', needsPassword: true },
    async ({ store, org, params, by, nowMs, root }) => {
      await store.revokeKey({ id: params.id ?? '', orgId: org.id, by, nowMs })
      const flash = 'Key revoked. Its next request is refused.'
      return { kind: 'redirect', to: `${root}/settings/keys`, flash }
    },
  ),
]

async function list(request: OrgRequest, fault?: string): Promise<Page> {
  const { store, org, actions, form } = request
  const [keys, plans] = [await store.listKeys(org.id), await store.listPlans()]
  const hasApiAccess = plans.find(({ name }) => name === org.plan)?.hasApiAccess ?? true
  const active = keys.filter(({ revokedAt }) => revokedAt === null)
  const revoked = keys
    .filter(({ revokedAt }) => revokedAt !== null)
    .toSorted((a, b) => ((a.revokedAt ?? '') < (b.revokedAt ?? '') ? 1 : -1))
  const body = html`<h1>API keys</h1>
${!hasApiAccess && html`<p class="notice">The plan ${org.plan} does not include the API: requests with these keys get 403.</p>`}
<section class="group" aria-labelledby="active"><h2 id="active">Active keys</h2>
${active.length === 0 ? html`<p>No keys.</p>` : keyTable(active, actions)}</section>
<section class="group" aria-labelledby="new"><h2 id="new">New key</h2>
<form method="post" action="${actions}/keys">
${textField({
  ...{ name: 'note', label: 'Note', hint: 'For example: Terraform in CI.' },
  ...{ value: form.get('note') ?? '', fault },
})}
${selectField({ name: 'scope', label: 'Scope', value: form.get('scope') ?? 'read_write', options: SCOPE_NAMES })}
<button class="main">Create key</button></form></section>
${
  revoked.length > 0 &&
  html`<details class="group"><summary>${revoked.length} revoked${revoked.length > REVOKED_SHOWN && `, the last ${REVOKED_SHOWN}`}</summary>${keyTable(revoked.slice(0, REVOKED_SHOWN), undefined)}</details>`
}`
  return {
    kind: 'page',
    title: 'API keys',
    section: 'keys',
    body,
    ...(fault === undefined ? {} : { status: 422 }),
  }
}

const SCOPE_NAMES = [
  ['read_write', 'Read and write'],
  ['read_only', 'Read only'],
] as const

/** A table of keys, with a button to revoke each when `actions` is given. */
function keyTable(keys: readonly StoredKey[], actions: string | undefined): Html {
  return html`<div class="scroll" tabindex="0"><table class="stack">
<thead><tr><th scope="col">Note</th><th scope="col">Key</th><th scope="col">Scope</th><th scope="col">Created</th><th scope="col">Last used</th><th scope="col">${actions === undefined ? 'Revoked' : 'Action'}</th></tr></thead>
<tbody>${keys.map(
    (key) => html`<tr><th scope="row"><bdi>${key.note ?? 'No note'}</bdi></th>
<td class="short" data-of="Key"><code>…${key.last4}</code></td>
<td data-of="Scope">${SCOPE_NAMES.find(([scope]) => scope === key.scope)?.[1] ?? key.scope}</td>
<td data-of="Created">${instant(key.createdAt)}${key.createdBy !== null && html` by <bdi>${key.createdBy}</bdi>`}</td>
<td data-of="Last used">${lastUse(key)}</td>
<td data-of="${actions === undefined ? 'Revoked' : 'Action'}">${
      actions === undefined
        ? key.revokedAt !== null && instant(key.revokedAt)
        : html`<form method="post" action="${actions}/keys/${key.id}/revoke"><button${asking(`Revoke the key …${key.last4}? Programs that use it are refused at once.`)}>Revoke<span class="unseen"> the key …${key.last4}</span></button></form>`
    }</td></tr>`,
  )}</tbody></table></div>`
}

function lastUse({ usedAtMs, usedBy }: StoredKey): Html {
  if (usedAtMs === null) return html`Never`
  return html`${instant(timestamp(usedAtMs))}${usedBy !== null && html`, ${usedBy}`}`
}

async function mint(request: OrgRequest): Promise<RouteResponse> {
  const { store, org, form, environment, person, by, nowMs, root } = request
  const note = (form.get('note') ?? '').trim()
  const scope = SCOPES.find((one) => one === form.get('scope'))
  const problem = readableTextProblem(note, { charsMax: NOTE_CHARS_MAX, lines: 'one line' })
  if (problem !== undefined || scope === undefined) return list(request, problem ?? 'The scope is unknown')
  const { key, ...made } = newKey(environment)
  const about = { orgId: org.id, scope, createdBy: person.email, note, by, nowMs }
  const refusal = await refusalOf([], () => store.createKey({ ...made, ...about }))
  if (refusal !== undefined) return list(request, refusal[''])
  const title = 'New API key'
  const body = html`<h1>${title}</h1>
<p class="notice">This key is shown only once. Store it where your programs can read it.</p>
<div class="group"><p class="secret"><code id="key">${key}</code></p>
<p><button type="button" data-copy="key" hidden>Copy</button></p>
<h2>Use it</h2>
<pre>export PHAROS_API_KEY=${key}</pre>
<p>The Terraform provider and the command <code>pharos</code> read this variable.</p></div>
<p><a class="button" href="${root}/settings/keys">Done</a></p>`
  return { kind: 'page', title, section: 'keys', body }
}
