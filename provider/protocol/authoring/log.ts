/** The log of handlers, on stderr, from which Terraform reads it. */

/** Fields of a log line. Never secret values: users attach logs to issues. */
export interface LogFields {
  readonly [name: string]: string | number | boolean | null
}

/** Writes log lines. Those below the requested level cost nothing. */
export interface Log {
  trace(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}
