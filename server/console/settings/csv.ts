/** First characters that make a spreadsheet read a cell as a formula, including full-width ones. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/**
 * `rows` as CSV (RFC 4180), every cell quoted. A cell that a spreadsheet would evaluate as a formula gets a leading
 * apostrophe. Pure.
 */
export function csv(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.map(cell).join(',')}\r\n`).join('')
}

function cell(text: string): string {
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}
