import { type Html, html } from './html.ts'

/** A text of people with its line breaks; addresses of the web become links. Everything else is text. Pure. */
export function plainText(text: string): Html {
  const parts: Html[] = []
  let at = 0
  for (const match of text.matchAll(/\bhttps?:\/\/[^\s<>"'`]+/g)) {
    const found = match[0].replace(/[.,;:!?)\]]+$/, '')
    const href = webAddress(found)
    if (href === undefined) continue
    parts.push(
      html`${text.slice(at, match.index)}<a href="${href}" rel="nofollow noopener noreferrer">${found}</a>`,
    )
    at = match.index + found.length
  }
  return html`<p class="text">${parts}${text.slice(at)}</p>`
}

function webAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { href, protocol, username, password } = new URL(text)
  // What looks like a host in front of an @ is none.
  const isPlain = username === '' && password === ''
  return isPlain && (protocol === 'http:' || protocol === 'https:') ? href : undefined
}
