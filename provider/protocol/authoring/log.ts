/** What handlers log, to stderr, from where Terraform takes it. */

/** Further facts of a log line. Never secret values: the user may attach the log to an issue. */
export interface LogFields {
  readonly [name: string]: string | number | boolean | null
}

/** Writes log lines; those below the level that the user asked for cost nothing. */
export interface Log {
  trace(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}
