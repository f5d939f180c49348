import { randomUUID } from 'node:crypto'
import { hashKey, mintKey } from '../domain/apiKeys.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { openStore } from '../store/sqlite/openStore.ts'

/**
 * Creates an organisation in `dataDir` without effective plan limits. Resolves with its id. Needs no running server.
 */
export async function makeOrg(dataDir: string): Promise<string> {
  const store = await openStore(dataDir, systemEnvironment.nowMs)
  const id = randomUUID()
  await store.createOrg({ id, name: 'Seeded', plan: 'enterprise', nowMs: Date.now() })
  await store.overrideLimits(id, { servicesMax: 1_000_000, endpointsMax: 1_000_000 })
  await store.close()
  return id
}

/**
 * Creates `count` read_write keys of the organisation. Resolves with the keys in plain text. Needs no running server.
 */
export async function makeKeys(dataDir: string, orgId: string, count: number): Promise<readonly string[]> {
  const store = await openStore(dataDir, systemEnvironment.nowMs)
  const keys = await Promise.all(
    Array.from({ length: count }, async () => {
      const key = mintKey(systemEnvironment)
      const hash = hashKey(key)
      const last4 = key.slice(-4)
      const id = randomUUID()
      await store.createKey({
        id,
        orgId,
        scope: 'read_write',
        hash,
        last4,
        createdBy: null,
        note: null,
        by: { kind: 'cli' },
        nowMs: 0,
      })
      return key
    }),
  )
  await store.close()
  return keys
}
