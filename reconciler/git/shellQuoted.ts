/** `text` as one word of a POSIX shell. Pure. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
