import { CONTROL_CHARACTERS } from '../../../api/contract/readableText.ts'

/** Writes the result of a command. */
export type Write = (text: string) => void

/** Writes `value` as one line of JSON when `isJson`, and as `text` otherwise. */
export function present(write: Write, isJson: boolean, value: unknown, text: string): void {
  write(`${isJson ? JSON.stringify(value) : text}\n`)
}

/** Rows as padded columns below a header. Line breaks and terminal control characters become `…`. Pure. */
export function table(header: readonly string[], texts: readonly (readonly string[])[]): string {
  const rows = texts.map((row) => row.map((cell) => cell.replaceAll(CONTROL_CHARACTERS, '…')))
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  return [header, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
