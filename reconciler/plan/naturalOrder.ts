const NATURAL = new Intl.Collator('en', { numeric: true })

/** Compares names by natural order: `web-2` before `web-10`. Ties are broken by code units. Pure. */
export function compareNames(a: string, b: string): number {
  return NATURAL.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0)
}
