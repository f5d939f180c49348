import type { SqlValue } from '../connections/sql.ts'

/** A statement to be executed; without values it may be several. */
export interface LinkStatement {
  readonly text: string
  readonly values?: readonly SqlValue[]
}

/** What a statement gave. */
export interface LinkAnswer {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly changes: number
}

/** Settings of the thread of a link. */
export interface LinkSettings {
  readonly url: string
  readonly applicationName: string
  /** Raised with each answer. */
  readonly signal: Int32Array
}

/** Messages to the thread: statements, which are executed in their order up to the first that fails, or the end. */
export type ToLink = { readonly statements: readonly LinkStatement[] } | 'end'

/** Messages from the thread. */
export type FromLink =
  | { readonly answers: readonly LinkAnswer[] }
  /** `code` is PostgreSQL's; `null` for a connection that failed. */
  | { readonly message: string; readonly code: string | null }
