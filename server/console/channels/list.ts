import { type Html, html } from '../../../web/html.ts'
import { instant } from '../../../web/times.ts'
import { timestamp } from '../../domain/environment.ts'
import type { StoredChannel } from '../../store/notificationStore.ts'
import type { RouteResponse, OrgRequest } from '../routing/route.ts'

/** GET /o/:org/channels. */
export async function listChannels({ store, org, root, may }: OrgRequest): Promise<RouteResponse> {
  const channels = await store.listChannels(org.id)
  const body = html`<h1>Channels ${may('use channels') && html`<a class="button main" href="${root}/channels/new">New channel</a>`}</h1>
<section class="group" aria-label="Channels">${
    channels.length === 0
      ? html`<p>No channels. A channel sends incidents and expiring certificates to a webhook or to Slack.</p>`
      : html`<div class="scroll" tabindex="0"><table class="stack"><thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">Host</th><th scope="col">State</th><th scope="col">Last success</th></tr></thead>
<tbody>${channels.map(
          (
            channel,
          ) => html`<tr><th scope="row"><a href="${root}/channels/${channel.id}"><bdi>${channel.name}</bdi></a></th>
<td data-of="Kind">${channel.kind}</td><td data-of="Host"><bdi>${channel.host}</bdi></td>
<td data-of="State">${stateText(channel)}</td>
<td data-of="Last success">${channel.lastSuccessAtMs === null ? 'Never' : instant(timestamp(channel.lastSuccessAtMs))}</td></tr>`,
        )}</tbody></table></div>`
  }</section>`
  return { kind: 'page', title: 'Channels', section: 'channels', body }
}

/** The state of a channel, with time and reason when it is disabled. Pure. */
export function stateText({ state, disabledReason, disabledAtMs }: StoredChannel): Html {
  if (state === 'active') return html`active`
  return html`disabled${disabledAtMs !== null && html` since ${instant(timestamp(disabledAtMs))}`}${disabledReason !== null && html`: ${disabledReason}`}`
}
