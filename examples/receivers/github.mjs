// Opens, comments and closes an issue of a GitHub repository for each incident.
// Set PHAROS_WEBHOOK_SECRET, GITHUB_REPOSITORY (owner/name) and GITHUB_TOKEN, which may write issues.
import { receive, required, send } from './receive.mjs'
import { summaryOf } from './summary.mjs'

const api = process.env.GITHUB_API_URL ?? 'https://api.github.com'
const issues = `${api}/repos/${required('GITHUB_REPOSITORY')}/issues`
const headers = {
  authorization: `Bearer ${required('GITHUB_TOKEN')}`,
  accept: 'application/vnd.github+json',
  'user-agent': 'pharos-receiver',
}
const LABEL = 'pharos'
/** Number of issues to search for the one of an incident. */
const PAGE = 100

receive(async (event) => {
  if (event.type === 'channel.test') return
  const { title, lines } = summaryOf(event)
  const text = quoted(lines)
  const { incident, certificate } = event.data
  const marker = `<!-- pharos ${incident?.id ?? certificate.sha256} -->`
  const number = await find(marker)
  if (number === undefined) {
    const made = await send('POST', issues, { title, body: `${text}\n\n${marker}`, labels: [LABEL] }, headers)
    if (incident?.status === 'resolved') await close(made.number)
    return
  }
  await send('POST', `${issues}/${number}/comments`, { body: text }, headers)
  if (incident?.status === 'resolved') await close(number)
})

/** The number of the issue with `marker`, open or closed; `undefined` when there is none. */
async function find(marker) {
  const query = `labels=${LABEL}&state=all&per_page=${PAGE}`
  const found = await send('GET', `${issues}?${query}`, undefined, headers)
  return found.find(({ body }) => body?.includes(marker))?.number
}

function close(number) {
  return send('PATCH', `${issues}/${number}`, { state: 'closed' }, headers)
}

/** Lines as plain text: nothing in them can mention a person, link an issue or act as markup. */
function quoted(lines) {
  const text = lines.join('\n').replaceAll('```', "'''")
  return `\`\`\`text\n${text}\n\`\`\``
}
