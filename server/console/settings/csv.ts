/** What makes a spreadsheet read a cell as a formula, in full width too. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/**
 * `rows` as CSV (RFC 4180), every cell quoted. A cell that a spreadsheet would run as a formula gets an apostrophe in
 * front. Pure.
 */
export function csv(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.map(cell).join(',')}\r\n`).join('')
}

function cell(text: string): string {
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}
