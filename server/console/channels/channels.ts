import { refusalOf } from '../forms/readForm.ts'
import {
  LONG_FORM_BYTES_MAX,
  type RouteResponse,
  type OrgRequest,
  type OrgRoute,
  type Route,
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
  { method: 'GET', path: '/o/:org/channels', access: 'read', handle: listChannels },
  { method: 'GET', path: '/o/:org/channels/new', access: USE, handle: (request) => newChannelPage(request) },
  { method: 'GET', path: '/o/:org/channels/:id', access: 'read', handle: (request) => channelPage(request) },
  { method: 'GET', path: '/o/:org/channels/:id/deliveries/:delivery', access: USE, handle: deliveryPage },
  {
    ...{ method: 'POST', path: '/api/o/:org/channels', access: USE, handle: createChannel },
    formBytesMax: LONG_FORM_BYTES_MAX,
  },
  { method: 'GET', path: '/o/:org/channels/:id/edit', access: USE, handle: editChannelPage },
  {
    ...{ method: 'POST', path: '/api/o/:org/channels/:id/change', access: USE, handle: changeChannel },
    formBytesMax: LONG_FORM_BYTES_MAX,
  },
  { method: 'POST', path: '/api/o/:org/channels/:id/show-secret', ...SECRETS, handle: showSecret },
  { method: 'POST', path: '/api/o/:org/channels/:id/rotate', ...SECRETS, handle: rotateSecret },
  { method: 'POST', path: '/api/o/:org/channels/:id/test', access: USE, handle: testChannel },
  setState('enable', 'active'),
  setState('disable', 'disabled'),
  { method: 'POST', path: '/api/o/:org/channels/:id/delete', ...SECRETS, handle: remove },
  { method: 'POST', path: '/api/o/:org/channels/:id/again', access: USE, handle: sendAllAgain },
  {
    method: 'POST',
    path: '/api/o/:org/channels/:id/deliveries/:delivery/again',
    access: USE,
    handle: (request) => sendAgain(request, { webhookId: request.params.delivery ?? '' }),
  },
]

function setState(verb: 'enable' | 'disable', state: 'active' | 'disabled'): OrgRoute {
  return {
    ...{ method: 'POST', path: `/api/o/:org/channels/:id/${verb}`, access: USE },
    handle: async (request) => {
      await request.store.setChannelState(channelRef(request), state, request.nowMs)
      return back(request, `Channel ${state === 'active' ? 'enabled' : 'disabled'}.`)
    },
  }
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
