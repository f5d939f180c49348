import type { Call } from './call.ts'

/** Aborts the signal of every call under way; their answers still say what really happened. */
export async function stopProvider(_request: object, { session }: Call): Promise<object> {
  session.stop()
  return {}
}
