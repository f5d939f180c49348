import { setTimeout as sleep } from 'node:timers/promises'
import { type Html, html } from '../../../web/html.ts'
import { instant } from '../../../web/times.ts'
import { timestamp } from '../../domain/environment.ts'
import type { DeliveryState, StoredChannel, StoredDelivery } from '../../store/notificationStore.ts'
import { type Faults, refusalOf } from '../forms/readForm.ts'
import { asking, problemNotice, textField } from '../frame/fields.ts'
import type { RouteResponse, OrgRequest } from '../routing/route.ts'
import { stateText } from './list.ts'

/** Maximum number of deliveries shown, the newest ones. */
const DELIVERIES_SHOWN = 100
/** Maximum wait for the receiver of a test, and interval between polls (milliseconds). */
const TEST_MS_MAX = 15_000
const TEST_POLL_MS = 50
const STATES = ['waiting', 'failed', 'sent'] as const satisfies readonly DeliveryState[]

/** A reference to the channel of the path, for its changes. */
export function channelRef({ params, org, by }: OrgRequest) {
  return { id: params.id ?? '', orgId: org.id, by }
}

/** GET /o/:org/channels/:id. */
export async function channelPage(request: OrgRequest, faults: Faults = {}): Promise<RouteResponse> {
  const { store, org, params, query, root, actions, may } = request
  const channel = (await store.listChannels(org.id)).find(({ id }) => id === params.id)
  if (channel === undefined) return { kind: 'not found' }
  const state = STATES.find((one) => one === query.get('state'))
  const deliveries = await store.listDeliveries(channelRef(request), { state, countMax: DELIVERIES_SHOWN })
  const at = `${root}/channels/${channel.id}`
  const body = html`<h1><bdi>${channel.name}</bdi></h1>
${problemNotice(faults[''])}
<dl class="facts group"><div><dt>Kind</dt><dd>${channel.kind}</dd></div><div><dt>Host</dt><dd><bdi>${channel.host}</bdi></dd></div>
<div><dt>State</dt><dd>${stateText(channel)}</dd></div>
<div><dt>Events</dt><dd>${channel.events.join(', ')}</dd></div>
<div><dt>Services</dt><dd>${channel.serviceIds === null ? 'all' : channel.serviceIds.length}</dd></div></dl>
${may('use channels') && channelActions(channel, request)}
<section class="group" aria-labelledby="deliveries"><h2 id="deliveries">Deliveries</h2>
<nav class="pages" aria-label="State of deliveries">${[undefined, ...STATES].map(
    (one) =>
      html`<a href="${at}${one !== undefined && html`?state=${one}`}"${one === state && html` aria-current="page"`}>${one ?? 'all'}</a>`,
  )}</nav>
${deliveries.length === 0 ? html`<p>No deliveries.</p>` : deliveryTable(deliveries, channel.id, request)}
${deliveries.length === DELIVERIES_SHOWN && html`<p class="quiet">The newest ${DELIVERIES_SHOWN}.</p>`}</section>
${may('use channels') && resendForm(`${actions}/channels/${channel.id}`, request, faults.since)}`
  const page = { kind: 'page', title: channel.name, section: 'channels', body } as const
  return Object.keys(faults).length === 0 ? page : { ...page, status: 422 }
}

function channelActions({ id, state, kind, name }: StoredChannel, { actions, may, root }: OrgRequest): Html {
  const button = (verb: string, word: string, more: Html | false = false) =>
    html`<form method="post" action="${actions}/channels/${id}/${verb}"><button${more}>${word}</button></form>`
  return html`<div class="row group">
<a class="button" href="${root}/channels/${id}/edit">Edit</a>
${state === 'active' && button('test', 'Send test')}
${state === 'active' ? button('disable', 'Disable') : button('enable', 'Enable')}
${may('manage channel secrets') && kind === 'webhook' && html`${button('show-secret', 'Show secret')}${button('rotate', 'Rotate secret')}`}
${may('manage channel secrets') && button('delete', 'Delete', asking(`Delete ${name} and its deliveries?`))}</div>`
}

function deliveryTable(
  deliveries: readonly StoredDelivery[],
  channelId: string,
  { root, actions, may }: OrgRequest,
): Html {
  const at = `/channels/${channelId}/deliveries`
  return html`<div class="scroll" tabindex="0"><table class="stack"><thead><tr><th scope="col">Event</th><th scope="col">At</th><th scope="col">State</th><th scope="col">Attempts</th><th scope="col">Last response</th>${may('use channels') && html`<th scope="col">Action</th>`}</tr></thead>
<tbody>${deliveries.map(
    (
      one,
    ) => html`<tr><th scope="row">${one.type}${one.incident !== null && html` <a href="${root}/incidents/${one.incidentId}">${one.incident}</a>`}</th><td data-of="At">${instant(timestamp(one.atMs))}</td>
<td data-of="State">${one.state}${one.dueMs !== null && html`, next ${instant(timestamp(one.dueMs))}`}${one.failedReason !== null && html` <span class="quiet">${one.failedReason}</span>`}</td>
<td data-of="Attempts">${one.attempts}</td><td data-of="Last response">${resultOf(one.last)}</td>
${
  may('use channels') &&
  html`<td data-of="Action"><div class="row"><a class="button" href="${root}${at}/${one.webhookId}">Show<span class="unseen"> ${one.webhookId}</span></a>
${html`<form method="post" action="${actions}${at}/${one.webhookId}/again"><button>${one.state === 'waiting' ? 'Try now' : 'Resend'}<span class="unseen"> ${one.webhookId}</span></button></form>`}</div></td>`
}</tr>`,
  )}</tbody></table></div>`
}

function resendForm(actions: string, { form }: OrgRequest, fault: string | undefined): Html {
  return html`<section class="group" aria-labelledby="resend"><h2 id="resend">Resend failed deliveries</h2>
<form method="post" action="${actions}/again">
${textField({ name: 'since', label: 'Events since (UTC)', type: 'datetime-local', value: form.get('since') ?? '', fault })}
<button>Resend all failed</button></form></section>`
}

/** The last response of a receiver as text. Pure. */
function resultOf(last: StoredDelivery['last']): string {
  if (last === null) return '–'
  const { status, error, durationMs } = last
  return `${status === null ? error : `status ${status}`} after ${durationMs} ms`
}

/** GET /o/:org/channels/:id/deliveries/:delivery: the payload and all attempts. */
export async function deliveryPage(request: OrgRequest): Promise<RouteResponse> {
  const { store, params, root } = request
  const {
    webhookId,
    body: payload,
    attempts,
  } = await store.getDelivery(channelRef(request), params.delivery ?? '')
  const body = html`<h1>Delivery</h1>
<dl class="facts group"><div><dt>webhook-id</dt><dd><code>${webhookId}</code></dd></div></dl>
<section class="group" aria-labelledby="payload"><h2 id="payload">Payload</h2><pre>${JSON.stringify(JSON.parse(payload), null, 2)}</pre></section>
<section class="group" aria-labelledby="attempts"><h2 id="attempts">Attempts</h2>${
    attempts.length === 0
      ? html`<p>None yet.</p>`
      : html`<ul>${attempts.map((one) => html`<li>${instant(timestamp(one.atMs))}: ${resultOf(one)}</li>`)}</ul>`
  }</section>
<p><a class="button" href="${root}/channels/${params.id}">Back</a></p>`
  return { kind: 'page', title: 'Delivery', section: 'channels', body }
}

/** Sends a test and waits for the receiver's response. */
export async function testChannel(request: OrgRequest): Promise<RouteResponse> {
  const { store, nowMs, root, params, monotonicMs } = request
  const ref = channelRef(request)
  let webhookId = ''
  const refusal = await refusalOf([], async () => {
    webhookId = await store.testChannel(ref, nowMs)
  })
  if (refusal !== undefined) return channelPage(request, refusal)
  const untilMs = monotonicMs() + TEST_MS_MAX
  let delivery: StoredDelivery | undefined
  do {
    await sleep(TEST_POLL_MS)
    const newest = await store.listDeliveries(ref, { countMax: DELIVERIES_SHOWN })
    delivery = newest.find((one) => one.webhookId === webhookId)
  } while (delivery?.state === 'waiting' && delivery.last === null && monotonicMs() < untilMs)
  const result = resultOf(delivery?.last ?? null)
  const to = `${root}/channels/${params.id}`
  if (delivery?.state === 'sent') return { kind: 'redirect', to, flash: `The test was delivered: ${result}.` }
  const isLate = delivery?.last == null
  const late = 'The receiver did not respond to the test within 15 seconds.'
  return channelPage(request, { '': isLate ? late : `The test failed: ${result}.` })
}
