import type { Call } from './call.ts'

/** Aborts the signal of every call in progress. Each call still returns its actual result. */
export async function stopProvider(_request: object, { session }: Call): Promise<object> {
  session.stop()
  return {}
}
