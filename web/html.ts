/** Markup that is safe to put into a page unchanged. Only `html` creates it. */
export class Html {
  readonly #markup: string

  constructor(strings: TemplateStringsArray, values: readonly HtmlValue[]) {
    this.#markup = strings.reduce((text, part, index) => `${text}${written(values[index - 1])}${part}`)
  }

  toString(): string {
    return this.#markup
  }
}

/** A value in a template. Text is escaped, lists are joined, and absent values leave no text. */
export type HtmlValue = Html | string | number | false | null | undefined | readonly HtmlValue[]

/** Markup with `values` in it, each escaped unless it is markup. Attributes must be quoted. Pure. */
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
 * `text` escaped for use between tags, in a quoted attribute, and in XML. Characters that are invisible, or that change
 * the writing direction of the text after them, become visible. Pure.
 */
function escapedText(text: string): string {
  if (PLAIN.test(text)) return text
  return text.replaceAll(UNSEEN, '\ufffd').replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** ASCII text that needs no escaping, which is most of it. */
const PLAIN = /^[\n\t !#-%(-;=?-~]*$/

/** Control characters except line break and tab, lone surrogates, and characters that change the writing direction. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu
