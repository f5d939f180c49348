import { Token } from 'cdktf'

/**
 * `text` for Terraform to take as it is. In a text of a stack `${…}` and `%{…}` are Terraform's own expressions;
 * here they stand for themselves. Throws when `text` holds a token: its value is not known yet, and escaping its
 * marker would lose it.
 */
export function literal(text: string): string {
  if (Token.isUnresolved(text)) {
    throw new Error(
      'literal() takes a text that is known now, and this one holds a token: leave literal() out',
    )
  }
  // Terraform takes U+FEFF at the start of a text for a byte-order mark and drops it, unless an expression gives it.
  return text.replaceAll(/[$%](?=\{)/g, (mark) => `${mark}${mark}`).replace(/^\ufeff/, `\${"\ufeff"}`)
}
