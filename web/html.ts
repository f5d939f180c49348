/** Markup that may stand in a page as it is. Only `html` makes it. */
export class Html {
  readonly #markup: string

  constructor(strings: TemplateStringsArray, values: readonly HtmlValue[]) {
    this.#markup = strings.reduce((text, part, index) => `${text}${written(values[index - 1])}${part}`)
  }

  toString(): string {
    return this.#markup
  }
}

/** What may stand in a template: text is escaped, lists are joined, what is absent leaves nothing. */
export type HtmlValue = Html | string | number | false | null | undefined | readonly HtmlValue[]

/** Markup with `values` in it, each escaped unless it is markup itself. Attributes have to be quoted. Pure. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(strings, values)
}

function written(value: HtmlValue): string {
  if (value === undefined || value === null || value === false) return ''
  if (value instanceof Html) return value.toString()
  if (typeof value === 'string') return escapedText(value)
  if (typeof value === 'number') return String(value)
  return value.map(written).join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * `text` as it may stand between tags, in a quoted attribute, and in XML. What is invisible, or what turns the
 * direction of writing for everything behind it, becomes visible. Pure.
 */
function escapedText(text: string): string {
  if (PLAIN.test(text)) return text
  return text.replaceAll(UNSEEN, '\ufffd').replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** Text of ASCII that needs no change: most of it. */
const PLAIN = /^[\n\t !#-%(-;=?-~]*$/

/** Control characters but for line break and tab, halves of characters, and what turns the direction of writing. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu
