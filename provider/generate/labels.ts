/** Longest label derived from a name (characters), without a number. */
const LABEL_CHARS_MAX = 80

/**
 * A unique label for `name`, added to `taken`: its words in lower case, joined by `_`, with a number if it is taken. A label that
 * would not start with a letter is prefixed with `fallback`.
 */
export function freeLabel(name: string, fallback: string, taken: Set<string>): string {
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, LABEL_CHARS_MAX)
  const label = /^[a-z]/.test(words) ? words : `${fallback}_${words}`.replace(/_$/, '')
  let free = label
  for (let count = 2; taken.has(free); count += 1) free = `${label}_${count}`
  taken.add(free)
  return free
}
