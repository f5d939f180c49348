import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'

/** Longest interval between checks whether a backup is due (milliseconds). */
const POLL_MS_MAX = 60_000
/** Delay before a failed backup is retried (milliseconds). */
const RETRY_MS = 10 * 60_000

/** Scheduled backups of the database. */
export interface BackupSchedule {
  readonly everyMs: number
  /** Makes a backup and then removes old ones; resolves to its file. */
  readonly backup: (signal: AbortSignal) => Promise<string>
  /**
   * Time of the newest backup (milliseconds since the epoch) that is not after `nowMs`, so that a clock that was set back
   * does not delay the next one; `undefined` for none.
   */
  readonly newestAtMs: (nowMs: number) => Promise<number | undefined>
}

/**
 * Makes backups of the database when they are due: the first one at once, unless a recent one exists. Failures are
 * logged, counted and retried. Returns the function that stops it and aborts a backup in progress.
 */
export function startBackups(
  { everyMs, backup, newestAtMs }: BackupSchedule,
  { log, nowMs, registry }: { log: Logger; nowMs: () => number; registry: Registry },
): () => Promise<void> {
  const stopping = new AbortController()
  const failed = new Counter({
    ...{ name: 'pharos_backups_failed_total', help: 'Failed backups of the database' },
    registers: [registry],
  })
  let failedAtMs: number | undefined
  let running: Promise<void> | undefined

  async function runIfDue(): Promise<void> {
    const atMs = nowMs()
    const newest = await newestAtMs(atMs)
    if (newest !== undefined && atMs - newest < everyMs) return
    if (failedAtMs !== undefined && failedAtMs <= atMs && atMs - failedAtMs < Math.min(RETRY_MS, everyMs))
      return
    try {
      const file = await backup(stopping.signal)
      failedAtMs = undefined
      log.info({ file, ms: nowMs() - atMs }, 'database backed up')
    } catch (error) {
      if (stopping.signal.aborted) return
      failedAtMs = nowMs()
      failed.inc()
      log.error({ err: error }, 'the database could not be backed up')
    }
  }
  const poll = (): void => {
    running ??= runIfDue().finally(() => {
      running = undefined
    })
  }
  const timer = setInterval(poll, Math.min(everyMs, POLL_MS_MAX))
  poll()
  return async () => {
    clearInterval(timer)
    stopping.abort(new Error('the server stops'))
    await running
  }
}
