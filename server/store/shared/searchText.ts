/** Text as it is searched: case does not count, in any alphabet. Pure. */
export function foldForSearch(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
