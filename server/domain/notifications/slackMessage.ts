import { SLACK_TEXT_CHARS_MAX, slackText } from '../../../api/contract/visibleText.ts'
import { SEVERITY_LABELS, STATUS_LABELS } from './incidentLabels.ts'
import type { CertificatePayload, IncidentPayload, Payload } from './payload.ts'

/** Maximum length of a block (characters after escaping). Slack refuses more than 3,000. */
const BLOCK_CHARS_MAX = 2_800
const TITLE_CHARS_MAX = 600
const NAMES_CHARS_MAX = 800

/** `payload` as JSON for an incoming webhook of Slack, or of a program that accepts the same form. Pure. */
export function slackMessage(payload: Payload): string {
  const [title, ...lines] = linesOf(payload, BLOCK_CHARS_MAX)
  const text = [`*${title}*`, ...lines].join('\n')
  const block = { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }
  return JSON.stringify({ text: linesOf(payload, SLACK_TEXT_CHARS_MAX).join('\n'), blocks: [block] })
}

/** The escaped lines of the message, title first, in about `charsMax` characters. */
function linesOf(payload: Payload, charsMax: number): readonly [string, ...string[]] {
  switch (payload.type) {
    case 'incident.created':
    case 'incident.updated':
      return incidentLines(payload, charsMax)
    case 'certificate.expiring':
      return certificateLines(payload)
    case 'channel.test':
      return [`Test of ${slackText(payload.data.channel.name, TITLE_CHARS_MAX)}`]
  }
}

function incidentLines({ data }: IncidentPayload, charsMax: number): readonly [string, ...string[]] {
  const { incident, update, url } = data
  const { display_id, title, severity, services } = incident
  const sign = update.status_at_update === 'resolved' ? ':large_green_circle:' : ':red_circle:'
  const names = services.map(({ name, id }) => name ?? id).join(', ')
  const heading = `${sign} ${linked(display_id, url)} ${slackText(title, TITLE_CHARS_MAX)}`
  const facts = `${STATUS_LABELS[update.status_at_update]} · ${SEVERITY_LABELS[severity].toLowerCase()} · ${slackText(names, NAMES_CHARS_MAX)}`
  return [heading, facts, slackText(update.body, charsMax - heading.length - facts.length)]
}

function certificateLines({ data }: CertificatePayload): readonly [string, ...string[]] {
  const { host, port, certificate, days_left, endpoints, url } = data
  const names = [...new Set(endpoints.map(({ service }) => service.name ?? service.id))].join(', ')
  const when = days_left < 0 ? 'has ended' : `ends in ${days_left} ${days_left === 1 ? 'day' : 'days'}`
  return [
    `:warning: Certificate of ${linked(slackText(`${host}:${port}`, TITLE_CHARS_MAX), url)} ${when}`,
    `${certificate.not_after} · ${slackText(names, NAMES_CHARS_MAX)}`,
    slackText(`${certificate.subject || 'no subject'}, issued by ${certificate.issuer}`, TITLE_CHARS_MAX),
  ]
}

/** `text`, which is escaped, as a link; only the text without a `url`. */
function linked(text: string, url: string | null): string {
  return url === null ? text : `<${url}|${text}>`
}
