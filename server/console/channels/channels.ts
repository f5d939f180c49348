import { refusalOf } from '../forms/readForm.ts'
import {
  LONG_FORM_BYTES_MAX,
  orgAction,
  orgPage,
  type OrgRequest,
  type OrgRoute,
  type Route,
  type RouteResponse,
} from '../routing/route.ts'
import { changeChannel, editChannelPage } from './change.ts'
import { channelPage, channelRef, deliveryPage, testChannel } from './channel.ts'
import { createChannel, newChannelPage } from './create.ts'
import { listChannels } from './list.ts'
import { rotateSecret, showSecret } from './secrets.ts'

const USE = 'use channels'
const SECRETS = { access: 'manage channel secrets', needsPassword: true } as const

/** Notification channels and their deliveries. Gap G9. */
export const channelRoutes: readonly Route[] = [
  orgPage('channels', 'read', listChannels),
  orgPage('channels/new', USE, (request) => newChannelPage(request)),
  orgPage('channels/:id', 'read', (request) => channelPage(request)),
  orgPage('channels/:id/deliveries/:delivery', USE, deliveryPage),
  orgAction('channels', { access: USE, formBytesMax: LONG_FORM_BYTES_MAX }, createChannel),
  orgPage('channels/:id/edit', USE, editChannelPage),
  orgAction('channels/:id/change', { access: USE, formBytesMax: LONG_FORM_BYTES_MAX }, changeChannel),
  orgAction('channels/:id/show-secret', SECRETS, showSecret),
  orgAction('channels/:id/rotate', SECRETS, rotateSecret),
  orgAction('channels/:id/test', USE, testChannel),
  setState('enable', 'active'),
  setState('disable', 'disabled'),
  orgAction('channels/:id/delete', SECRETS, remove),
  orgAction('channels/:id/again', USE, sendAllAgain),
  orgAction('channels/:id/deliveries/:delivery/again', USE, (request) =>
    sendAgain(request, { webhookId: request.params.delivery ?? '' }),
  ),
]

function setState(verb: 'enable' | 'disable', state: 'active' | 'disabled'): OrgRoute {
  return orgAction(`channels/:id/${verb}`, USE, async (request) => {
    await request.store.setChannelState(channelRef(request), state, request.nowMs)
    return back(request, `Channel ${state === 'active' ? 'enabled' : 'disabled'}.`)
  })
}

function back({ root, params }: OrgRequest, flash: string): RouteResponse {
  return { kind: 'redirect', to: `${root}/channels/${params.id}`, flash }
}

async function remove(request: OrgRequest): Promise<RouteResponse> {
  await request.store.deleteChannel(channelRef(request), request.nowMs)
  return { kind: 'redirect', to: `${request.root}/channels`, flash: 'Channel deleted.' }
}

async function sendAllAgain(request: OrgRequest): Promise<RouteResponse> {
  const since = request.form.get('since') ?? ''
  const sinceMs = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(since) ? Date.parse(`${since}Z`) : Number.NaN
  if (Number.isNaN(sinceMs)) return channelPage(request, { since: 'Give a date and a time' })
  return sendAgain(request, { sinceMs })
}

async function sendAgain(
  request: OrgRequest,
  which: { readonly webhookId: string } | { readonly sinceMs: number },
): Promise<RouteResponse> {
  let count = 0
  const refusal = await refusalOf([], async () => {
    count = await request.store.resendDeliveries(channelRef(request), which, request.nowMs)
  })
  if (refusal !== undefined) return channelPage(request, refusal)
  return back(request, `${count} ${count === 1 ? 'delivery' : 'deliveries'} will be resent.`)
}
