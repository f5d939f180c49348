import { type Html, type HtmlValue, html } from '../../web/html.ts'

/** A table; the first cell of a row is its header. */
export interface Table {
  readonly caption: HtmlValue
  readonly columns: readonly string[]
  readonly rows: readonly (readonly HtmlValue[])[]
  readonly isSmall?: boolean
}

/**
 * `table` as markup. On a narrow screen rows become blocks, for which some browsers drop the semantics of the elements, so the
 * roles repeat them. Pure.
 */
export function tableOf({ caption, columns, rows, isSmall = false }: Table): Html {
  return html`<table role="table" class="stack${isSmall && ' diff'}">
<caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map((column) => html`<th role="columnheader" scope="col">${column}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(([first, ...cells]) => html`<tr role="row"><th role="rowheader" scope="row">${first}</th>${cells.map((cell, index) => html`<td role="cell" data-of="${columns[index + 1]}">${cell}</td>`)}</tr>\n`)}</tbody>
</table>`
}
