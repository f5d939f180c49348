import { type Html, html } from '../../../web/html.ts'
import { SEVERITY_LABELS, STATUS_LABELS } from '../../domain/notifications/incidentLabels.ts'
import { listed } from '../view/incidentTexts.ts'
import type { PublicIncident, PublicWindow } from '../view/publicPage.ts'

const ENTRIES_MAX = 50

/** Contents of a feed. */
export interface Feed {
  /** The page's id. */
  readonly id: string
  readonly title: string
  /** Public URL of the page; absolute if known. */
  readonly url: string
  /** The time of a feed without entries (ISO 8601). */
  readonly createdAt: string
  readonly incidents: readonly PublicIncident[]
  readonly windows: readonly PublicWindow[]
}

interface Entry {
  readonly id: string
  readonly at: string
  readonly title: string
  readonly link: string
  readonly text: string
}

/** The newest updates of all incidents, one entry each, and maintenance windows, as Atom (RFC 4287). Pure. */
export function atomFeed(feed: Feed): string {
  const { id, title, url, createdAt, incidents, windows } = feed
  const base = url.replace(/\/$/, '')
  const entries = [
    ...incidents.flatMap((incident) => incidentEntries(incident, base)),
    ...windows.map((window) => windowEntry(window, url)),
  ]
    .sort((one, other) => (one.at < other.at ? 1 : -1))
    .slice(0, ENTRIES_MAX)
  return `<?xml version="1.0" encoding="utf-8"?>\n${html`<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:uuid:${id}</id>
<title>${title}</title>
<updated>${entries[0]?.at ?? createdAt}</updated>
<link rel="alternate" type="text/html" href="${url}"/>
<link rel="self" type="application/atom+xml" href="${base}/feed.atom"/>
<author><name>${title}</name></author>
${entries.map(entryOf)}</feed>`}\n`
}

function incidentEntries(incident: PublicIncident, base: string): readonly Entry[] {
  const { displayId, title, severity, components, updates } = incident
  return updates.map(({ id, at, status, body }) => ({
    ...{ id, at },
    title: `${displayId} ${STATUS_LABELS[status]}: ${title}`,
    link: `${base}/incidents/${displayId}`,
    text: `${body}\n\n${SEVERITY_LABELS[severity]}. Affects ${listed(components)}.`,
  }))
}

function windowEntry(
  { id, title, updatedAt, startsAt, endsAt, components }: PublicWindow,
  url: string,
): Entry {
  return {
    ...{ id, at: updatedAt, link: url },
    title: `Maintenance: ${title}`,
    text: `From ${startsAt} to ${endsAt}. Affects ${listed(components)}.`,
  }
}

function entryOf({ id, at, title, link, text }: Entry): Html {
  return html`<entry>
<id>urn:uuid:${id}</id>
<title>${title}</title>
<updated>${at}</updated>
<link rel="alternate" type="text/html" href="${link}"/>
<content type="text">${text}</content>
</entry>
`
}
