import { visible } from '../../api/contract/visibleText.ts'

/** An untrusted name in quotes and on one line. Pure. */
export function quoted(name: string): string {
  return visible(JSON.stringify(name))
}

/** `1 endpoint`, `2 endpoints`. Pure. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** At most `charsMax` characters of `text`, with an ellipsis if it was longer. Pure. */
export function shortened(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`
}

/** `a, b and 7 more`: at most `keysMax` of `keys`. Pure. */
export function listed(keys: readonly string[], keysMax: number): string {
  const more = keys.length - keysMax
  return `${keys.slice(0, keysMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
