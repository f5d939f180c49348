/** The log of handlers, on stderr, from which Terraform reads it. */

/** Levels of log lines, from the least to the most important. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error'

/** Fields of a log line. Never secret values: users attach logs to issues. */
export interface LogFields {
  readonly [name: string]: string | number | boolean | null
}

/** Writes log lines, one function for each level. Those below the requested level cost nothing. */
export type Log = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>>
