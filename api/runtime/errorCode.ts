/** The code of a system or SQLite error, such as ENOENT; empty for other errors. Pure. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
