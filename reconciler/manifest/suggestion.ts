/** Maximum of edits between a misspelt word and the intended one. */
const EDITS_MAX = 2

/** Shortest common prefix of a misspelt word and the intended one (characters). */
const BEGINNING_CHARS_MIN = 4

/** The word of `known` most similar to `word`; `undefined` when none is similar enough. Pure. */
export function suggestionFor(word: string, known: readonly string[]): string | undefined {
  const wanted = fold(word)
  const ranked = known
    .map((candidate) => ({ candidate, edits: editsBetween(wanted, fold(candidate)) }))
    .sort((a, b) => a.edits - b.edits)
  const [best] = ranked
  if (best === undefined) return undefined
  if (best.edits <= Math.min(EDITS_MAX, Math.floor(wanted.length / 2))) return best.candidate
  const beginnings = known.filter((candidate) => beginAlike(wanted, fold(candidate)))
  return beginnings.length === 1 ? beginnings[0] : undefined
}

/** Whether one of the words is nearly a prefix of the other, as `interval` of `interval_secs`. */
function beginAlike(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length)
  let shared = 0
  while (shared < shorter && a[shared] === b[shared]) shared += 1
  return shared >= Math.max(BEGINNING_CHARS_MIN, shorter - 1)
}

/** `word` normalised for comparison: `interval_secs`, `IntervalSecs` and `interval-secs` are equal. Pure. */
export function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, '')
}

function editsBetween(a: string, b: string): number {
  // A key may be as long as its file, but known words are short.
  if (a.length > 64 || b.length > 64) return Number.POSITIVE_INFINITY
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(substitution, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    previous = row
  }
  return previous[b.length] ?? 0
}
