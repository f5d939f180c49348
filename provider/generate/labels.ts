/** Longest label that is made of a name (characters): with a number behind it, it is still easy to type. */
const LABEL_CHARS_MAX = 80

/**
 * A label for `name` that is not among `taken`, and is afterwards: its words in lower case, joined by `_`, with a
 * number where another one has it already. One that would not start with a letter is put behind `fallback`.
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
