/** The order in which a kind of database publishes commands, as SQL. */
export interface CommandOrder {
  /** The columns of a position, separated by commas: of a command or of a reader of the outbox, by its alias. */
  readonly place: (alias: string) => string
  /** The names of these columns. */
  readonly columns: string
  /** The transaction of a command or a reader, as text; '0' where commands are numbered in the order of commits. */
  readonly xid: (alias: string) => string
  /** A position of two parameters: `$n` is its transaction, and the next one its sequence number. */
  readonly given: (n: number) => string
  /** Whether no earlier command can still be committed before `c`. */
  readonly settled: string
}
