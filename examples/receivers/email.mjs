// Sends mail through the machine's sendmail (Postfix, msmtp, …).
// Set PHAROS_WEBHOOK_SECRET, MAIL_FROM and MAIL_TO, addresses separated by commas.
import { spawn } from 'node:child_process'
import { receive, required } from './receive.mjs'
import { summaryOf } from './summary.mjs'

const from = required('MAIL_FROM')
const to = required('MAIL_TO')
const program = process.env.SENDMAIL ?? '/usr/sbin/sendmail'

receive(async (event) => {
  const { title, lines } = summaryOf(event)
  const { incident } = event.data
  const domain = from.split('@').at(-1)?.replace(/>$/, '')
  // Mail clients show the mails of an incident as one thread.
  const thread = incident === undefined ? [] : [`References: <${incident.id}@${domain}>`]
  const head = [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${encoded(title)}`,
    `Date: ${new Date(event.timestamp).toUTCString()}`,
    ...thread,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    'Auto-Submitted: auto-generated',
  ]
  const text = Buffer.from(`${[title, ...lines].join('\n\n')}\n`).toString('base64')
  await deliver(`${head.join('\n')}\n\n${text.replaceAll(/.{76}/g, '$&\n')}\n`)
})

/**
 * `text` in encoded words (RFC 2047), each within the maximum length, so that no text of an incident can end a header.
 */
function encoded(text) {
  const words = ['']
  for (const character of text) {
    const last = words.pop() + character
    words.push(...(Buffer.byteLength(last) <= 45 ? [last] : [last.slice(0, -character.length), character]))
  }
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString('base64')}?=`).join('\n ')
}

function deliver(mail) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['-t', '-i'], { stdio: ['pipe', 'inherit', 'inherit'] })
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`sendmail exited with ${code}`))))
    child.stdin.on('error', reject)
    child.stdin.end(mail)
  })
}
