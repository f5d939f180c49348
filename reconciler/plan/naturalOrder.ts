const NATURAL = new Intl.Collator('en', { numeric: true })

/** Orders names as people count: `web-2` before `web-10`. Names that differ in nothing else go by their characters. Pure. */
export function compareNames(a: string, b: string): number {
  return NATURAL.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0)
}
