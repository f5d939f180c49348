/** Connection exceptions, and shutdowns of the server. */
const LOST_STATES = /^(?:08|57P0[1-3])/
/** Serialization failure and deadlock: nothing was written, and the next try may succeed. */
const CONFLICT_STATES: ReadonlySet<string> = new Set(['40001', '40P01'])

/** SQLSTATE of an error of the server; `undefined` for an error of the connection. Pure. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return /^[0-9A-Z]{5}$/.test(error.code) && 'severity' in error ? error.code : undefined
}

/** What the driver says when a connection ends, or gives no answer in time. */
const LOST_TEXTS = /connection terminated|timeout|connection error|not queryable|closed the connection/i

/** Whether the connection ended before the server answered, so that the statement may have been executed. Pure. */
export function isLost(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state !== undefined) return LOST_STATES.test(state)
  if (!(error instanceof Error)) return false
  // Errors of the operating system, such as ECONNRESET.
  return ('code' in error && /^E[A-Z]+$/.test(String(error.code))) || LOST_TEXTS.test(error.message)
}

/** Whether the server gave the statement up because of another transaction. Pure. */
export function isConflict(error: unknown): boolean {
  return CONFLICT_STATES.has(sqlStateOf(error) ?? '')
}
