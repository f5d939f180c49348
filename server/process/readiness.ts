import type { KeySource } from '../secrets/keyring.ts'
import { assertMasterKeys } from '../secrets/masterKeys.ts'
import type { SecretStore, UpkeepStore } from '../store/store.ts'

/** How long a durable write proves readiness (milliseconds): requests for /readyz write at most that often. */
const PROVEN_MS = 1_000

/** Dependencies of the readiness check. */
export interface ReadinessParts {
  readonly dataDir: string | null
  readonly store: Pick<UpkeepStore, 'assertDiskSpace' | 'probeWrite'> & SecretStore
  readonly keySource: KeySource
  /** The time to record as that of the last use (milliseconds since the epoch). */
  readonly trustedMs: () => number
  /** A monotonic clock (milliseconds). */
  readonly monotonicMs: () => number
}

/**
 * A probe that rejects when the server is not ready: no disk space, an unusable master key, or no durable write. It
 * writes at most once in PROVEN_MS.
 */
export function readiness(parts: ReadinessParts): () => Promise<void> {
  const { dataDir, store, keySource: source, trustedMs, monotonicMs } = parts
  let underWay: Promise<void> | undefined
  let provenAtMs = Number.NEGATIVE_INFINITY
  const proveWrite = async (): Promise<void> => {
    try {
      await store.probeWrite(trustedMs())
      provenAtMs = monotonicMs()
    } finally {
      underWay = undefined
    }
  }
  return async () => {
    await store.assertDiskSpace()
    await assertMasterKeys({ store, source, dataDir })
    if (monotonicMs() - provenAtMs < PROVEN_MS) return
    underWay ??= proveWrite()
    await underWay
  }
}
