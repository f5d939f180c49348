import type { Logger } from 'pino'
import { ThreadClient } from './threadClient.ts'

/** Starts a thread that reads results from a shared database, which another process may store. */
export function readResults(databaseUrl: string, log: Logger): ThreadClient {
  const thread = new ThreadClient({
    file: 'pharos-server-reading.js',
    settings: () => ({ databaseUrl }),
    log,
    onError: (error, isRepeated) => {
      if (!isRepeated) log.warn({ err: error }, 'results cannot be read')
    },
  })
  thread.start()
  return thread
}
