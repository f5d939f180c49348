import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Engine } from '../../store/engine.ts'
import { isLost } from '../../store/postgres/connections/failures.ts'
import { connectionText, isOfConnection } from '../failures/databaseConnection.ts'

/** Maximum wait for a database that does not respond (milliseconds). */
const WAIT_MS_MAX = 60_000
/** Pause between attempts (milliseconds). */
const PAUSE_MS = 3_000

/**
 * Resolves when the database of `engine` responds. Logs each attempt that fails, and rejects with the last error after
 * WAIT_MS_MAX, or at once when waiting would not help. A signal ends the process meanwhile.
 */
export async function awaitDatabase(engine: Pick<Engine, 'exists'>, log: Logger): Promise<void> {
  const startedMs = performance.now()
  for (;;) {
    try {
      await engine.exists()
      return
    } catch (error) {
      if (!isOfConnection(error) || !mayRespondLater(error)) throw error
      const waitedMs = performance.now() - startedMs
      if (waitedMs + PAUSE_MS > WAIT_MS_MAX) throw error
      log.warn({ reason: connectionText(error), waitedMs: Math.round(waitedMs) }, 'waiting for the database')
    }
    await sleep(PAUSE_MS)
  }
}

/** Whether the database does not run yet, or the name of its host is not known yet. Pure. */
function mayRespondLater(error: Error & { readonly code?: string }): boolean {
  return isLost(error) || error.code === 'EAI_AGAIN'
}
