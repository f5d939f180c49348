import type { ControllerEvent } from '../../controller/status/status.ts'
import { shortened } from '../../text/counts.ts'
import type { Message } from '../delivery/channel.ts'
import type { OutgoingRequest } from '../delivery/outgoing.ts'

/** Slack refuses a block of more than 3,000 characters; counted after escaping. */
const BLOCK_CHARS_MAX = 2_800
/** Longest text for clients that do not show blocks, such as push notifications (characters). */
const FALLBACK_CHARS_MAX = 2_800

/** Longest address in a block (characters). */
const URL_CHARS_MAX = 400

/** A message for an incoming webhook of Slack or a compatible service. Pure. */
export function slackRequest(
  url: string,
  { events, dropped }: Message,
  publicUrl: string | null,
): OutgoingRequest {
  const notes = dropped === 0 ? [] : [`${dropped} earlier events were left out: too many waited.`]
  const fallback = [...events.map(({ set, message }) => `${set ?? 'pharos'}: ${message}`), ...notes].join(
    '\n',
  )
  const blocks = [...events.map((event) => eventText(event, publicUrl)), ...notes].map((text) => ({
    type: 'section',
    text: { type: 'mrkdwn', text, verbatim: true },
  }))
  return {
    method: 'POST',
    url,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ text: escapedWithin(fallback, FALLBACK_CHARS_MAX), blocks }),
  }
}

const SIGNS: Readonly<Record<ControllerEvent['severity'], string>> = {
  info: ':information_source:',
  warning: ':warning:',
  error: ':red_circle:',
}

function eventText(
  { set, severity, message, todo, commit }: ControllerEvent,
  publicUrl: string | null,
): string {
  const subject = set === null ? '*pharos*' : `*${linked(set, publicUrl)}*`
  const lines = [
    `${SIGNS[severity]} ${subject} ${severity === 'info' ? '' : `${severity}: `}${escapedWithin(message, BLOCK_CHARS_MAX / 2)}`,
    ...(todo === null ? [] : [`→ ${escapedWithin(todo, BLOCK_CHARS_MAX / 4)}`]),
    ...(commit === null ? [] : [`commit ${escapedWithin(commit.slice(0, 10), 100)}`]),
  ]
  return lines.join('\n')
}

/** The name of a set, as a link to its page if the public address is known. */
function linked(set: string, publicUrl: string | null): string {
  const name = escapedWithin(set, 300)
  if (publicUrl === null) return name
  const url = `${publicUrl.replace(/\/+$/, '')}/sets/${encodeURIComponent(set)}`
  if (url.length > URL_CHARS_MAX) return name
  return `<${escaped(url).replaceAll('|', '%7C')}|${name.replaceAll('|', '/')}>`
}

/** Escapes the three characters with which mentions and links of Slack begin. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** `text` escaped, in at most `charsMax` characters; never cut inside an escape sequence. */
function escapedWithin(text: string, charsMax: number): string {
  for (let chars = charsMax - 1; ; chars = Math.floor(chars / 2)) {
    const written = escaped(shortened(text, chars))
    if (written.length <= charsMax) return written
  }
}
