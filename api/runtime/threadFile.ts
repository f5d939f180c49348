import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Path of the bundle `name` of a thread: beside the running bundle, or in dist/ when the sources run. A thread is a
 * program of its own, so that it loads only what it needs.
 */
export function threadFile(name: string): URL {
  const isSource = import.meta.url.endsWith('.ts')
  return new URL(isSource ? `../../dist/${name}` : name, import.meta.url)
}

/**
 * Options of a thread that runs for as long as its server. Its young objects get 6 MB instead of 48: what it keeps is old,
 * and the process takes 24 MB less, with no more CPU (bench/monitoring).
 */
export const LONG_LIVED_THREAD = { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: 6 } }

/**
 * Starts a thread; the error when there can be no further one now, because of a limit of processes or memory. Node throws
 * it, which would end a program that restarts a thread from a timer.
 */
export function startThread(file: URL, options?: WorkerOptions): Worker | Error {
  try {
    return new Worker(file, options)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
