import { SEVERITY_LABELS, STATUS_LABELS } from './incidentLabels.ts'
import type { CertificatePayload, IncidentPayload, Payload } from './payload.ts'

/** Maximum length of a block (characters after escaping). Slack refuses more than 3,000. */
const BLOCK_CHARS_MAX = 2_800
const TITLE_CHARS_MAX = 600
const NAMES_CHARS_MAX = 800

/** `payload` as JSON for an incoming webhook of Slack, or of a program that accepts the same form. Pure. */
export function slackMessage(payload: Payload): string {
  const [title, ...lines] = linesOf(payload)
  const text = [`*${title}*`, ...lines].join('\n')
  const block = { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }
  return JSON.stringify({ text: title, blocks: [block] })
}

/** The escaped lines of the message, title first. */
function linesOf(payload: Payload): readonly [string, ...string[]] {
  switch (payload.type) {
    case 'incident.created':
    case 'incident.updated':
      return incidentLines(payload)
    case 'certificate.expiring':
      return certificateLines(payload)
    case 'channel.test':
      return [`Test of ${escapedWithin(payload.data.channel.name, TITLE_CHARS_MAX)}`]
  }
}

function incidentLines({ data }: IncidentPayload): readonly [string, ...string[]] {
  const { incident, update, url } = data
  const { display_id, title, severity, services } = incident
  const sign = update.status_at_update === 'resolved' ? ':large_green_circle:' : ':red_circle:'
  const names = services.map(({ name, id }) => name ?? id).join(', ')
  const link = linked(display_id, url)
  return [
    `${sign} ${link} ${escapedWithin(title, TITLE_CHARS_MAX)}`,
    `${STATUS_LABELS[update.status_at_update]} · ${SEVERITY_LABELS[severity].toLowerCase()} · ${escapedWithin(names, NAMES_CHARS_MAX)}`,
    escapedWithin(update.body, BLOCK_CHARS_MAX - TITLE_CHARS_MAX - NAMES_CHARS_MAX - link.length - 100),
  ]
}

function certificateLines({ data }: CertificatePayload): readonly [string, ...string[]] {
  const { host, port, certificate, days_left, endpoints, url } = data
  const names = [...new Set(endpoints.map(({ service }) => service.name ?? service.id))].join(', ')
  const when = days_left < 0 ? 'has ended' : `ends in ${days_left} ${days_left === 1 ? 'day' : 'days'}`
  return [
    `:warning: Certificate of ${linked(escapedWithin(`${host}:${port}`, TITLE_CHARS_MAX), url)} ${when}`,
    `${certificate.not_after} · ${escapedWithin(names, NAMES_CHARS_MAX)}`,
    escapedWithin(`${certificate.subject}, issued by ${certificate.issuer}`, TITLE_CHARS_MAX),
  ]
}

/** `text`, which is escaped, as a link; only the text without a `url`. */
function linked(text: string, url: string | null): string {
  return url === null ? text : `<${url}|${text}>`
}

/** Escapes the three characters that always have a meaning in Slack: mentions and links begin with one. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** `text`, escaped and cut to `charsMax` characters, but never inside an escaped character. */
function escapedWithin(text: string, charsMax: number): string {
  const characters = [...text].map(escaped)
  let chars = 0
  const fitting = characters.findIndex((character) => {
    chars += character.length
    return chars > charsMax
  })
  return fitting === -1 ? characters.join('') : `${characters.slice(0, fitting - 1).join('')}…`
}
