import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'

/** Longest time between two looks whether a copy is due (milliseconds). */
const LOOK_MS_MAX = 60_000
/** Time after which a copy that failed is tried again (milliseconds). */
const RETRY_MS = 10 * 60_000

/** Copies of the database on a schedule. */
export interface BackupSchedule {
  readonly everyMs: number
  /** Makes one, and removes old ones after that; resolves to its file. */
  readonly backup: (signal: AbortSignal) => Promise<string>
  /** When the newest one was made (milliseconds since the epoch); `undefined` for none. */
  readonly newestAtMs: () => Promise<number | undefined>
}

/**
 * Makes copies of the database when they are due: the first one at once, unless an earlier process made one in time. A
 * failure is logged and counted, and tried again. Returns the function that ends it, a copy under way included.
 */
export function startBackups(
  { everyMs, backup, newestAtMs }: BackupSchedule,
  {
    log,
    nowMs,
    registry,
  }: { readonly log: Logger; readonly nowMs: () => number; readonly registry: Registry },
): () => Promise<void> {
  const stopping = new AbortController()
  const failed = new Counter({
    ...{ name: 'pharos_backups_failed_total', help: 'Copies of the database that could not be made' },
    registers: [registry],
  })
  let failedAtMs: number | undefined
  let running: Promise<void> | undefined

  async function look(): Promise<void> {
    const atMs = nowMs()
    const newest = await newestAtMs()
    // A clock that was set back must not put the next one off.
    if (newest !== undefined && newest <= atMs && atMs - newest < everyMs) return
    if (failedAtMs !== undefined && failedAtMs <= atMs && atMs - failedAtMs < Math.min(RETRY_MS, everyMs))
      return
    try {
      const file = await backup(stopping.signal)
      failedAtMs = undefined
      log.info({ file, ms: nowMs() - atMs }, 'the database was copied')
    } catch (error) {
      if (stopping.signal.aborted) return
      failedAtMs = nowMs()
      failed.inc()
      log.error({ err: error }, 'the database could not be copied')
    }
  }
  const lookAlone = (): void => {
    running ??= look().finally(() => {
      running = undefined
    })
  }
  const timer = setInterval(lookAlone, Math.min(everyMs, LOOK_MS_MAX))
  lookAlone()
  return async () => {
    clearInterval(timer)
    stopping.abort(new Error('the server stops'))
    await running
  }
}
