import { ApiError } from '../../../api/contract/apiError.ts'
import { type Html, html } from '../../../web/html.ts'
import { nameList } from '../../../web/nameList.ts'
import { sealTarget } from '../../domain/notifications/channel.ts'
import type { ChannelChange, StoredChannel } from '../../store/notificationStore.ts'
import { type Faults, refusalOf } from '../forms/readForm.ts'
import { type NamedService, namedServices, servicesOf } from '../forms/services.ts'
import { versionOfText, versionSeen } from '../forms/version.ts'
import { ALERT, problemNotice, textField } from '../frame/fields.ts'
import type { RouteResponse, OrgRequest, Page } from '../routing/route.ts'
import { channelRef } from './channel.ts'
import { choiceFields, eventLabel, nameField, readChannelForm, typedOr } from './channelForm.ts'

/** GET /o/:org/channels/:id/edit. */
export async function editChannelPage(request: OrgRequest): Promise<RouteResponse> {
  const channel = await channelOf(request)
  return channel === undefined ? { kind: 'not found' } : form(request, channel)
}

/** POST /api/o/:org/channels/:id/change. When two people edit at once, the second one sees both versions. */
export async function changeChannel(request: OrgRequest): Promise<RouteResponse> {
  const { store, environment, findMasterKey, nowMs, root } = request
  const before = await channelOf(request)
  if (before === undefined) return { kind: 'not found' }
  const { faults, url, ...wanted } = await readChannelForm(request, before)
  if (Object.keys(faults).length > 0) return form(request, before, faults)
  const decide = (channel: StoredChannel, masterKeyId: string): ChannelChange => {
    if (request.form.get('seen') !== versionOf(channel))
      throw new ApiError('conflict', 'the channel has changed')
    if (url === '') return { ...wanted, target: undefined }
    const place = { orgId: channel.orgId, channelId: channel.id }
    return { ...wanted, target: sealTarget(url, place, findMasterKey(masterKeyId), environment) }
  }
  try {
    const refusal = await refusalOf([], () => store.changeChannel(channelRef(request), decide, nowMs))
    if (refusal !== undefined) return form(request, before, refusal)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'conflict') throw error
    const now = await channelOf(request)
    return now === undefined ? { kind: 'not found' } : form(request, now, 'outdated')
  }
  return { kind: 'redirect', to: `${root}/channels/${before.id}`, flash: 'Channel saved.' }
}

async function channelOf({ store, org, params }: OrgRequest): Promise<StoredChannel | undefined> {
  return (await store.listChannels(org.id)).find(({ id }) => id === params.id)
}

function versionOf({ name, host, events, serviceIds }: StoredChannel): string {
  return versionOfText(JSON.stringify([name, host, events, serviceIds]))
}

async function form(
  request: OrgRequest,
  channel: StoredChannel,
  refused: Faults | 'outdated' = {},
): Promise<Page> {
  const { store, org, actions, root } = request
  const isOutdated = refused === 'outdated'
  const faults = isOutdated ? {} : refused
  const chosen = channel.serviceIds ?? []
  const named = await namedServices(request)
  const deleted = await servicesOf(
    store,
    org.id,
    chosen.filter((id) => !named.some((one) => one.id === id)),
  )
  const services = [...named, ...deleted]
  const values = typedOr(request, { ...channel, serviceIds: chosen })
  const at = `/channels/${channel.id}`
  // A form that is shown again has lost its URL, which may contain a secret.
  const isUrlLost = (request.form.get('url') ?? '') !== ''
  const title = `Edit ${channel.name}`
  const body = html`<h1>Edit <bdi>${channel.name}</bdi></h1>
${problemNotice(faults[''])}
${isOutdated && outdatedNotice(channel, services)}
<form class="group" method="post" action="${actions}${at}/change">
<input type="hidden" name="seen" value="${versionSeen(request.form, 'seen', { current: versionOf(channel), isOutdated })}">
${nameField(values, faults)}
${textField({
  ...{ name: 'url', label: 'New URL', type: 'url', isRequired: false },
  fault: faults.url ?? (isUrlLost ? 'Enter the new URL again: it is never shown' : undefined),
  hint: `Leave it empty to keep the URL at ${channel.host}. It may contain a secret and is never shown.`,
})}
${choiceFields(values, services, faults)}
<button class="main">Save</button> <a class="button" href="${root}${at}">Back</a></form>`
  const status = isOutdated ? 409 : Object.keys(faults).length === 0 ? 200 : 422
  return { kind: 'page', title, section: 'channels', body, status }
}

function outdatedNotice(
  { name, host, events, serviceIds }: StoredChannel,
  services: readonly NamedService[],
): Html {
  const names = services.filter(({ id }) => serviceIds?.includes(id)).map((one) => one.name)
  return html`<div class="notice bad"${ALERT}><p>The channel has changed since you opened it. Your version is below. Saving it again replaces this one:</p>
<p><bdi>${name}</bdi> at <bdi>${host}</bdi>: ${events.map(eventLabel).join(', ')}; services: ${serviceIds === null ? 'all' : nameList(names)}</p></div>`
}
