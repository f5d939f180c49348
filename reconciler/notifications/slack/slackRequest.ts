import { SLACK_TEXT_CHARS_MAX, slackText } from '../../../api/contract/visibleText.ts'
import type { ControllerEvent } from '../../controller/status/status.ts'
import type { Message } from '../delivery/channel.ts'
import type { OutgoingRequest } from '../delivery/outgoing.ts'

/** Slack refuses a block of more than 3,000 characters; counted after escaping. */
const BLOCK_CHARS_MAX = 2_800
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
    body: JSON.stringify({ text: slackText(fallback, SLACK_TEXT_CHARS_MAX), blocks }),
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
    `${SIGNS[severity]} ${subject} ${severity === 'info' ? '' : `${severity}: `}${slackText(message, BLOCK_CHARS_MAX / 2)}`,
    ...(todo === null ? [] : [`→ ${slackText(todo, BLOCK_CHARS_MAX / 4)}`]),
    ...(commit === null ? [] : [`commit ${slackText(commit.slice(0, 10), 100)}`]),
  ]
  return lines.join('\n')
}

/** The name of a set, as a link to its page if the public address is known. */
function linked(set: string, publicUrl: string | null): string {
  const name = slackText(set, 300)
  if (publicUrl === null) return name
  const url = `${publicUrl.replace(/\/+$/, '')}/sets/${encodeURIComponent(set)}`
  if (url.length > URL_CHARS_MAX) return name
  return `<${url.replaceAll('&', '&amp;').replaceAll('|', '%7C')}|${name.replaceAll('|', '/')}>`
}
