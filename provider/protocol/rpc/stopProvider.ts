import type { Rpc } from './call.ts'

/** Aborts the signal of every call in progress. Each call still returns its actual result. */
export const stopProvider: Rpc<'StopProvider'> = async (_request, { session }) => {
  session.stop()
  return {}
}
