import type { Environment } from '../environment.ts'

/** An environment at `nowMs` whose ids are `uuid-1`, `uuid-2`, … and whose random bytes are 1, then 2, … */
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
