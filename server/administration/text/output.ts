import type { Command } from 'commander'
import { CONTROL_CHARACTERS } from '../../../api/contract/readableText.ts'

/** Writes the result of `command`: `value` as one line of JSON when `isJson`, and `text` otherwise. */
export function present(command: Command, isJson: boolean, value: unknown, text: string): void {
  command.configureOutput().writeOut?.(`${isJson ? JSON.stringify(value) : text}\n`)
}

/** Writes a note about the work of `command` to stderr. */
export function note(command: Command, text: string): void {
  command.configureOutput().writeErr?.(`${text}\n`)
}

/** The text of a cell; `null` becomes `-`. */
type Cell = string | number | null

/** The members of an item that can be cells. */
type CellOf<Item> = { [Key in keyof Item]: Item[Key] extends Cell ? Key : never }[keyof Item]

/** The cells of a row by the titles of their columns: a member of the item, or computed from it. */
export type Columns<Item> = Readonly<Record<string, CellOf<Item> | ((item: Item) => Cell)>>

/**
 * `items` as padded columns below their titles. Line breaks and terminal control characters become `…`. Pure.
 */
export function table<Item>(items: readonly Item[], columns: Columns<Item>): string {
  const rows = items.map((item) =>
    Object.values(columns).map((column) => {
      const cell = typeof column === 'function' ? column(item) : item[column]
      return String(cell ?? '-').replaceAll(CONTROL_CHARACTERS, '…')
    }),
  )
  const lines = [Object.keys(columns), ...rows]
  const widths = Object.keys(columns).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  )
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n')
}
