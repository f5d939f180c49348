import { html } from '../../../web/html.ts'
import { CHANNEL_KINDS, makeChannel } from '../../domain/notifications/channel.ts'
import { CHANNEL_EVENTS } from '../../domain/notifications/payload.ts'
import { mintSecret } from '../../domain/notifications/signature.ts'
import { type Faults, refusalOf } from '../forms/readForm.ts'
import { namedServices } from '../forms/services.ts'
import { problemNotice, selectField, textField } from '../frame/fields.ts'
import type { RouteResponse, OrgRequest, Page } from '../routing/route.ts'
import { choiceFields, nameField, readChannelForm, typedOr } from './channelForm.ts'
import { secretPage } from './secrets.ts'

const KIND_OPTIONS = [
  ['webhook', 'Webhook: signed JSON'],
  ['slack', 'Slack: an incoming webhook of Slack, Mattermost or Discord'],
] as const

/** GET /o/:org/channels/new. The URL is not filled in again, because it may contain a secret. */
export async function newChannelPage(request: OrgRequest, faults: Faults = {}): Promise<Page> {
  const { form, actions, root } = request
  const services = await namedServices(request)
  const values = typedOr(request, { name: '', events: CHANNEL_EVENTS, serviceIds: [] })
  const body = html`<h1>New channel</h1>
${problemNotice(faults[''])}
<form class="group" method="post" action="${actions}/channels">
${nameField(values, faults)}
${selectField({ name: 'kind', label: 'Kind', value: form.get('kind') ?? 'webhook', options: KIND_OPTIONS, fault: faults.kind })}
${textField({ name: 'url', label: 'URL', type: 'url', hint: 'It may contain a secret and is never shown again.', fault: faults.url })}
${choiceFields(values, services, faults)}
<button class="main">Create channel</button> <a class="button" href="${root}/channels">Back</a></form>`
  const status = Object.keys(faults).length === 0 ? 200 : 422
  return { kind: 'page', title: 'New channel', section: 'channels', body, status }
}

/** POST /api/o/:org/channels. */
export async function createChannel(request: OrgRequest): Promise<RouteResponse> {
  const { store, org, form, environment, findMasterKey, nowMs, by, root } = request
  const { name, url, events, serviceIds, faults } = await readChannelForm(request)
  const kind = CHANNEL_KINDS.find((one) => one === form.get('kind'))
  if (kind === undefined) return newChannelPage(request, { ...faults, kind: 'Choose a kind' })
  if (Object.keys(faults).length > 0) return newChannelPage(request, faults)
  const id = environment.uuid()
  const secret = kind === 'slack' ? null : mintSecret(environment)
  const make = (masterKeyId: string) =>
    makeChannel(
      { id, kind, name, events, serviceIds },
      { orgId: org.id, url, secret },
      findMasterKey(masterKeyId),
      environment,
    )
  const refusal = await refusalOf([], () => store.createChannel(org.id, make, nowMs, by))
  if (refusal !== undefined) return newChannelPage(request, refusal)
  const to = `${root}/channels/${id}`
  if (secret === null) return { kind: 'redirect', to, flash: 'Channel created.' }
  return secretPage('New channel', secret, to)
}
