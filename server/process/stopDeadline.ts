import type { Logger } from 'pino'

/** Time for the whole stop (milliseconds). The rest of the ten seconds that docs/server.md promises is for the log. */
const DEADLINE_MS = 9_000
/** Time for the last line of the log to be written (milliseconds). */
const LOG_MS = 250

/**
 * Kills this process when it has not ended within DEADLINE_MS from now: a step of the stop can wait for a thread, a
 * file or a database that never responds. It loses no acknowledged change, because these are durable when they are
 * acknowledged. Call it once, at the signal.
 */
export function enforceStopDeadline(log: Logger): void {
  const deadline = setTimeout(() => {
    log.error('the server could not stop in time and is killed; acknowledged changes are stored')
    // process.exit would wait for threads that execute a statement of SQLite.
    const kill = setTimeout(() => process.kill(process.pid, 'SIGKILL'), LOG_MS)
    // A process that ends meanwhile has stopped: it keeps its exit code.
    kill.unref()
  }, DEADLINE_MS)
  // Not cleared when all steps have ended: a connection whose peer does not respond can keep the process afterwards.
  deadline.unref()
}
