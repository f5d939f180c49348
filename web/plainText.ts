import { type Html, html } from './html.ts'

/** A text written by people, with its line breaks. Web addresses become links; everything else stays text. Pure. */
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
  const url = parsedUrl(text)
  if (url === undefined) return undefined
  const { href, protocol, username, password } = url
  // The part before an @ looks like a host but is not.
  const isPlain = username === '' && password === ''
  return isPlain && (protocol === 'http:' || protocol === 'https:') ? href : undefined
}

/** URL.canParse of Node 20 is no substitute: once compiled, it refuses every text with letters such as ü. */
function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
