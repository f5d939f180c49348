import { readableTextProblem } from '../../../api/contract/text.ts'
import { type Html, html } from '../../../web/html.ts'
import {
  CHANNEL_KINDS,
  channelUrlProblem,
  OLD_SECRET_MS,
  sealSecret,
} from '../../domain/notifications/channel.ts'
import { CHANNEL_EVENTS, type ChannelEvent } from '../../domain/notifications/payload.ts'
import { mintSecret } from '../../domain/notifications/signature.ts'
import { selectField, textField } from '../frame/fields.ts'
import { type Faults, formText, refusalOf } from '../forms/readForm.ts'
import { namedServices, servicesField } from '../forms/services.ts'
import type { Answer, OrgRequest, Page } from '../routing/route.ts'

/** Longest name of a channel (code points). Gap G35. */
const NAME_CHARS_MAX = 200
const KIND_OPTIONS = [
  ['webhook', 'Webhook: signed JSON'],
  ['slack', 'Slack: an incoming webhook of Slack, Mattermost or Discord'],
] as const
const EVENT_WORDS: Readonly<Record<ChannelEvent, string>> = {
  'incident.created': 'Incidents opened',
  'incident.updated': 'Updates of incidents',
  'certificate.expiring': 'Certificates that expire',
}

/** GET /o/:org/channels/new. The URL is not filled in again: it may be a secret. */
export async function newChannelPage(request: OrgRequest, faults: Faults = {}): Promise<Page> {
  const { store, org, form, actions, root } = request
  const services = await namedServices(store, org.id)
  const chosen: readonly string[] = form.has('name') ? form.getAll('events') : CHANNEL_EVENTS
  const body = html`<h1>New channel</h1>
${faults[''] !== undefined && html`<p class="notice bad" role="alert">${faults['']}</p>`}
<form class="group" method="post" action="${actions}/channels">
${textField({ name: 'name', label: 'Name', value: form.get('name') ?? '', fault: faults.name })}
${selectField({ name: 'kind', label: 'Kind', value: form.get('kind') ?? 'webhook', options: KIND_OPTIONS, fault: faults.kind })}
${textField({ name: 'url', label: 'URL', type: 'url', hint: 'It may be a secret, and is never shown again.', fault: faults.url })}
<fieldset${faults.events !== undefined && html` aria-describedby="e-events"`}><legend>Events</legend>
${CHANNEL_EVENTS.map(
  (event) =>
    html`<label class="choice"><input type="checkbox" name="events" value="${event}"${chosen.includes(event) && html` checked`}>${EVENT_WORDS[event]}</label>`,
)}
${faults.events !== undefined && html`<p class="fault" id="e-events">${faults.events}</p>`}</fieldset>
${servicesField({
  ...{ name: 'services', label: 'Services', hint: 'None chosen means all.', services },
  ...{ chosen: form.getAll('services'), fault: faults.services },
})}
<button class="main">Create channel</button> <a class="button" href="${root}/channels">Back</a></form>`
  const status = Object.keys(faults).length === 0 ? 200 : 422
  return { kind: 'page', title: 'New channel', section: 'channels', body, status }
}

/** POST /api/o/:org/channels. */
export async function createChannel(request: OrgRequest): Promise<Answer> {
  const { store, org, form, environment, findMasterKey, nowMs, by, root } = request
  const name = formText(form, 'name')
  const url = formText(form, 'url')
  const kind = CHANNEL_KINDS.find((one) => one === form.get('kind'))
  const events = CHANNEL_EVENTS.filter((event) => form.getAll('events').includes(event))
  const chosen = [...new Set(form.getAll('services'))]
  const own = new Set((await namedServices(store, org.id)).map(({ id }) => id))
  const nameProblem = readableTextProblem(name, { charsMax: NAME_CHARS_MAX, lines: 'one line' })
  const urlProblem = channelUrlProblem(url)
  const faults: Faults = {
    ...(nameProblem === undefined ? {} : { name: `The name ${nameProblem}` }),
    ...(urlProblem === undefined ? {} : { url: `The URL ${urlProblem}` }),
    ...(events.length === 0 ? { events: 'Choose at least one' } : {}),
    ...(chosen.every((one) => own.has(one)) ? {} : { services: 'A service does not exist any more' }),
    ...(kind === undefined ? { kind: 'Choose a kind' } : {}),
  }
  if (Object.keys(faults).length > 0 || kind === undefined) return newChannelPage(request, faults)
  const id = environment.uuid()
  const secret = kind === 'slack' ? null : mintSecret(environment)
  const make: Parameters<typeof store.createChannel>[1] = (masterKeyId) => {
    const seal = (value: string, role: 'target' | 'secret') =>
      sealSecret(value, { orgId: org.id, channelId: id, role }, findMasterKey(masterKeyId), environment)
    const sealed = { target: seal(url, 'target'), secret: secret === null ? null : seal(secret, 'secret') }
    const serviceIds = chosen.length === 0 ? null : chosen
    return { id, kind, name, host: new URL(url).host, events, serviceIds, sealed }
  }
  const refusal = await refusalOf([], () => store.createChannel(org.id, make, nowMs, by))
  if (refusal !== undefined) return newChannelPage(request, refusal)
  const to = `${root}/channels/${id}`
  if (secret === null) return { kind: 'redirect', to, flash: 'The channel is created.' }
  return secretPage('New channel', secret, to)
}

/** POST /api/o/:org/channels/:id/rotate. */
export async function rotateSecret(request: OrgRequest): Promise<Answer> {
  const { store, org, params, environment, findMasterKey, nowMs, by, root } = request
  const secret = mintSecret(environment)
  await store.rotateSecret(
    { id: params.id ?? '', orgId: org.id, by },
    ({ id: channelId, orgId }, masterKeyId) =>
      sealSecret(secret, { orgId, channelId, role: 'secret' }, findMasterKey(masterKeyId), environment),
    { nowMs, oldUntilMs: nowMs + OLD_SECRET_MS },
  )
  return secretPage('New signing secret', secret, `${root}/channels/${params.id}`, ROTATED)
}

const ROTATED = html`<p>For 24 hours the secret before it signs too: change the receiver within that time.</p>`

function secretPage(title: string, secret: string, next: string, more?: Html): Page {
  const body = html`<h1>${title}</h1>
<p class="notice">This signing secret is shown only now. The receiver verifies each message with it.</p>
${more}
<div class="group"><p class="secret"><code id="secret">${secret}</code></p>
<p><button type="button" data-copy="secret" hidden>Copy</button></p></div>
<p><a class="button" href="${next}">Done</a></p>`
  return { kind: 'page', title, section: 'channels', body }
}
