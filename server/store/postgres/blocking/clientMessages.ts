import type { SqlValue } from '../connections/sql.ts'

/** A statement; without values, it may be several. */
export interface SqlStatement {
  readonly text: string
  readonly values?: readonly SqlValue[]
}

/** Result of a statement. */
export interface SqlResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly changes: number
}

/** Settings of the thread of a BlockingClient. */
export interface ClientSettings {
  readonly url: string
  readonly applicationName: string
  /** Raised with each reply. */
  readonly signal: Int32Array
}

/** Messages to the thread: statements, executed in order up to the first that fails, or `end`. */
export type ToClient = { readonly statements: readonly SqlStatement[] } | 'end'

/** Messages from the thread. */
export type FromClient =
  | { readonly results: readonly SqlResult[] }
  /** `code` is PostgreSQL's; `null` for a connection that failed. */
  | { readonly message: string; readonly code: string | null }
