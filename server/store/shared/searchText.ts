/** Text folded for search: lower case, in any alphabet. Pure. */
export function foldForSearch(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
