import { productOf } from '../domain/changeOrigin.ts'
import type { KeyUse, KeyUseStore } from '../store/store.ts'

/** Interval between writes of uses (milliseconds). Writing with each request would cost a commit for each read. */
const WRITE_MS = 60_000

/**
 * Starts the recording of the last use of each key, which is kept in memory and written once a minute. A failed write
 * is reported, and repeated a minute later.
 */
export function startKeyUses(store: KeyUseStore, onError: (error: unknown) => void) {
  let noted = new Map<string, { readonly userAgent: string | undefined; readonly atMs: number }>()
  const write = async (): Promise<void> => {
    if (noted.size === 0) return
    const uses = noted
    noted = new Map()
    try {
      await store.recordKeyUses(
        [...uses].map(
          ([keyId, { userAgent, atMs }]): KeyUse => ({ keyId, atMs, tool: productOf(userAgent) }),
        ),
      )
    } catch (error) {
      noted = new Map([...uses, ...noted])
      onError(error)
    }
  }
  const timer = setInterval(() => void write(), WRITE_MS)
  return {
    /** Records a use of a key by a client with this User-Agent. */
    note: (keyId: string, userAgent: string | undefined, nowMs: number): void => {
      noted.set(keyId, { userAgent, atMs: nowMs })
    },
    /** Stops the timer and writes once more. */
    stop: async (): Promise<void> => {
      clearInterval(timer)
      await write()
    },
  }
}
