import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type { RequestRecord } from '../http/app.ts'
import { DATABASE_DOWN_TEXT, DatabaseDown } from '../store/postgres/connections/circuit.ts'
import { outageOf } from './refusalLog.ts'

/** Duration above which every request is logged (milliseconds). */
export const SLOW_MS = 500

const MUTATING: ReadonlySet<string> = new Set(['POST', 'PATCH', 'DELETE'])

/** Fields that are removed from every log line. */
const REDACTED = ['*.authorization', '*.body', '*.headers', 'authorization', 'body', 'headers']

/**
 * A structured log to `destination`, JSON lines. Work that an outage of the database refuses writes no line: the start
 * and the end of the outage do (watchDatabase.ts).
 */
export function createLog(destination: DestinationStream, level: string): Logger {
  const hooks: LoggerOptions['hooks'] = {
    logMethod(line, write) {
      if (!isOfOutage(line[0])) write.apply(this, line)
    },
  }
  return pino({ level, base: null, redact: REDACTED, hooks }, destination)
}

/** Whether the fields of a line say only that the database does not respond. A thread reports just the text. Pure. */
function isOfOutage(fields: unknown): boolean {
  if (typeof fields !== 'object' || fields === null) return false
  const { err, reason } = fields as { readonly err?: unknown; readonly reason?: unknown }
  return err instanceof DatabaseDown || reason === DATABASE_DOWN_TEXT
}

/**
 * Logs `record` if the request failed internally, was slow, or changed data: logging every request would halve the
 * throughput. Refusals during an outage of the database are only counted (refusalLog.ts). Lines contain no path
 * parameters, query, headers or body.
 */
export function logRequest(log: Logger, record: RequestRecord): void {
  const { requestId, method, route, status, durationMs, caller, failure } = record
  const line = {
    requestId,
    method,
    route,
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    key: caller?.keyLast4,
    orgId: caller?.orgId,
  }
  if (outageOf(record) !== undefined) return
  if (status >= 500 || failure !== undefined)
    log.error({ ...line, ...failureFields(failure) }, 'request failed')
  else if (durationMs >= SLOW_MS) log.warn(line, 'slow request')
  else if (status < 300 && MUTATING.has(method)) log.info(line, 'changed')
}

function failureFields(failure: unknown): Record<string, unknown> {
  if (!(failure instanceof Error)) return {}
  const code = 'code' in failure && typeof failure.code === 'string' ? failure.code : undefined
  return { error: failure.message, code, stack: failure.stack }
}
