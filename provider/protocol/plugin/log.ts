/** Log lines for Terraform on a plugin's stderr: one hclog JSON object per line. */
import type { Log, LogFields, LogLevel } from '../authoring/log.ts'

const LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error']

/** Terraform splits lines longer than 64 KiB and shows the pieces unparsed. */
const MESSAGE_CHARS_MAX = 16_000

/**
 * The lowest level to write, from TF_LOG_PROVIDER or else TF_LOG; `undefined` when logging is off.
 *
 * `JSON` is Terraform's name for trace in another format. An unknown value counts as trace, as in Terraform.
 */
export function logLevelFrom(environment: NodeJS.ProcessEnv): LogLevel | undefined {
  const wanted = (environment.TF_LOG_PROVIDER || environment.TF_LOG || 'off').toLowerCase()
  if (wanted === 'off') return undefined
  return LEVELS.find((level) => level === wanted) ?? 'trace'
}

/** hclog requires exactly six decimals of a second; JavaScript's clock has three. */
const timestamp = (): string => new Date().toISOString().replace('Z', '000Z')

/** The log of the provider `name` on stderr, with lines of at least `lowest`; none when that is `undefined`. */
export function createLog(name: string, lowest: LogLevel | undefined): Log {
  const first = lowest === undefined ? LEVELS.length : LEVELS.indexOf(lowest)
  const writer =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (LEVELS.indexOf(level) < first) return
      const line = {
        ...fields,
        '@level': level,
        '@message': message.slice(0, MESSAGE_CHARS_MAX),
        '@module': `provider.${name}`,
        '@timestamp': timestamp(),
      }
      process.stderr.write(`${JSON.stringify(line)}\n`)
    }
  return {
    trace: writer('trace'),
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
  }
}
