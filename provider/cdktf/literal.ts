import { Token } from 'cdktf'

/**
 * `text` as a literal for Terraform. In a text of a stack `${…}` and `%{…}` are Terraform's own expressions;
 * here they are escaped. Throws when `text` contains a token: its value is not known yet, and escaping its
 * marker would lose it.
 */
export function literal(text: string): string {
  if (Token.isUnresolved(text)) {
    throw new Error(
      'literal() takes a string that is known now, and this one contains a token: leave literal() out',
    )
  }
  // Terraform treats U+FEFF at the start of a text as a byte order mark and drops it, unless it comes from an expression.
  return text.replaceAll(/[$%](?=\{)/g, (mark) => `${mark}${mark}`).replace(/^\ufeff/, `\${"\ufeff"}`)
}
