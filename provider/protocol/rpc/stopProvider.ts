import type { Call } from './call.ts'

/** Aborts the signal of every call in progress; their answers still report the truth. */
export async function stopProvider(_request: object, { session }: Call): Promise<object> {
  session.stop()
  return {}
}
