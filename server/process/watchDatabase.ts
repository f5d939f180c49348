import type { Logger } from 'pino'
import type { UpkeepStore } from '../store/store.ts'

/** Interval between checks for disk space (milliseconds). */
const DISK_CHECK_MS = 2_000

/**
 * Logs the start and the end of outages of the database, and of a full disk, which is checked now and periodically.
 * Resolves to the function that stops the checks.
 */
export async function watchDatabase(
  store: Pick<UpkeepStore, 'assertDiskSpace' | 'onOutage'>,
  log: Logger,
): Promise<() => void> {
  store.onOutage((reason) => {
    if (reason === null) log.warn('the database responds again')
    else log.error({ reason }, 'the database does not respond')
  })
  let problem: string | undefined
  const check = async (): Promise<void> => {
    try {
      await store.assertDiskSpace()
      if (problem !== undefined) log.warn('the disk of the database can be written again')
      problem = undefined
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (reason !== problem) log.error({ reason }, 'the disk of the database cannot be written')
      problem = reason
    }
  }
  await check()
  const timer = setInterval(() => void check(), DISK_CHECK_MS)
  return () => clearInterval(timer)
}
