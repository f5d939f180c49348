// Posts cards to a channel of Microsoft Teams.
// Set PHAROS_WEBHOOK_SECRET and TEAMS_URL, the URL of a workflow "Post to a channel when a webhook request is
// received".
import { receive, required, send } from './receive.mjs'
import { summaryOf } from './summary.mjs'

const url = required('TEAMS_URL')

receive(async (event) => {
  const { title, lines } = summaryOf(event)
  const isOver = event.data.incident?.status === 'resolved'
  const text = (words, more = {}) => ({ type: 'TextBlock', text: plain(words), wrap: true, ...more })
  const body = [
    text(title, { weight: 'Bolder', size: 'Medium', color: isOver ? 'Good' : 'Attention' }),
    ...lines.map((line) => text(line)),
  ]
  const content = { type: 'AdaptiveCard', version: '1.4', body }
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', content }
  await send('POST', url, { type: 'message', attachments: [attachment] })
})

/** `text` without the characters that a card reads as Markdown: a title must not become a link. */
function plain(text) {
  return text.replaceAll(/[\\`*_[\]()#<>]/g, (character) => `\\${character}`)
}
