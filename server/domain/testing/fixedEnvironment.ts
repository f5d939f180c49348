import type { Environment } from '../environment.ts'

/** An environment at `nowMs` with the ids `uuid-1`, `uuid-2`, … and random bytes that are all 1, then all 2, … */
export function fixedEnvironment(nowMs = Date.UTC(2026, 0, 1)): Environment {
  let ids = 0
  let fills = 0
  return {
    nowMs: () => nowMs,
    uuid: () => {
      ids += 1
      return `uuid-${ids}`
    },
    randomBytes: (size) => {
      fills += 1
      return Buffer.alloc(size, fills)
    },
  }
}
