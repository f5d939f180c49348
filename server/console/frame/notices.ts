import { type Html, html } from '../../../web/html.ts'

/** What every page of an organisation warns of. */
export interface Notices {
  /** Channels that send nothing any more. */
  readonly disabledChannels: readonly { readonly id: string; readonly name: string }[]
  /** Codes of regions in use that are checked by agents, none of which is connected. */
  readonly lostRegions: readonly string[]
  /** Whether the page was made without results, because they cannot be read at present. */
  readonly areResultsBusy: boolean
}

/** The warnings as HTML; nothing when there are none. Pure. */
export function noticesHtml(
  { disabledChannels, lostRegions: lost, areResultsBusy }: Notices,
  orgId: string,
): Html {
  const links = disabledChannels.map(
    ({ id, name }) => html` <a href="/o/${orgId}/channels/${id}"><bdi>${name}</bdi></a>`,
  )
  return html`${links.length > 0 && html`<p class="notice bad">Disabled, and sends nothing:${links}</p>`}
${lost.length > 0 && html`<p class="notice bad">No agent is connected in ${lost.join(', ')}: services are not checked from there.</p>`}
${areResultsBusy && html`<p class="notice bad">Results of checks cannot be read at present, and are missing on this page. Load it again in a moment.</p>`}`
}
