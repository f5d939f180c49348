import { type Html, html } from '../../../web/html.ts'

/** Warnings on every page of an organisation. */
export interface Notices {
  readonly disabledChannels: readonly { readonly id: string; readonly name: string }[]
  /** Codes of regions in use that agents check, without a connected agent. */
  readonly lostRegions: readonly string[]
  /** Whether results are missing on the page, because they cannot be read at present. */
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
  return html`${links.length > 0 && html`<p class="notice bad">Disabled channels, which send nothing:${links}</p>`}
${lost.length > 0 && html`<p class="notice bad">No agent is connected in ${lost.join(', ')}: services are not checked from there.</p>`}
${areResultsBusy && html`<p class="notice bad">Check results cannot be read at present and are missing on this page. Reload it in a moment.</p>`}`
}
