import type { Environment } from '../domain/environment.ts'
import type { KeySource } from '../secrets/keyring.ts'
import { assertMasterKeys } from '../secrets/masterKeys.ts'
import type { SecretStore, UpkeepStore } from '../store/store.ts'

/** How long one durable write proves that writing works (milliseconds): requests for /readyz write no more often. */
const PROVEN_MS = 1_000

/** The parts that readiness depends on. */
export interface ReadinessParts {
  readonly dataDir: string
  readonly store: Pick<UpkeepStore, 'assertRoom' | 'probeWrite'> & SecretStore
  readonly keySource: KeySource
  readonly environment: Environment
  /** Milliseconds of a clock that only runs forward. */
  readonly monotonicMs: () => number
}

/**
 * A probe that rejects when the server cannot do its work: no room on the disk, a master key that cannot be used, or no
 * durable write. However often it is called, it writes once in PROVEN_MS.
 */
export function readiness(parts: ReadinessParts): () => Promise<void> {
  const { dataDir, store, keySource: source, environment, monotonicMs } = parts
  let underWay: Promise<void> | undefined
  let provenAtMs = Number.NEGATIVE_INFINITY
  const proveWrite = async (): Promise<void> => {
    try {
      await store.probeWrite(environment.nowMs())
      provenAtMs = monotonicMs()
    } finally {
      underWay = undefined
    }
  }
  return async () => {
    await store.assertRoom()
    await assertMasterKeys({ store, source, dataDir })
    if (monotonicMs() - provenAtMs < PROVEN_MS) return
    underWay ??= proveWrite()
    await underWay
  }
}
