import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashKey, mintKey } from '../../domain/apiKeys.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { openStore } from '../../store/postgres/openStore.ts'
import type { LimitOverrides, Store } from '../../store/store.ts'
import { type ProcessOptions, type ServerProcess, startProcess } from '../serverProcess.ts'
import { STOPPED_CLOCKS } from '../storedServices.ts'

/** A database that several server processes serve. */
export interface SharedDatabase {
  /** Flags for every process. */
  readonly flags: readonly string[]
  /** Starts a process that serves only the API. */
  readonly start: (options?: ProcessOptions, args?: readonly string[]) => Promise<ServerProcess>
  readonly remove: () => Promise<void>
}

/** Prepares the database at `url` for server processes. */
export function shareDatabase(url: string): SharedDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-shared-'))
  const [keyFile, urlFile] = [join(folder, 'master.key'), join(folder, 'url')]
  writeFileSync(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 })
  writeFileSync(urlFile, url, { mode: 0o600 })
  const flags = ['--database-file', urlFile, '--master-key-file', keyFile, '--monitor', 'off']
  return {
    flags,
    start: (options = {}, args = []) => startProcess(flags, args, options),
    remove: () => rm(folder, { recursive: true }),
  }
}

/** An organisation with its keys in plain text. */
export interface SeededOrg {
  readonly orgId: string
  readonly keys: readonly string[]
}

/** Creates an organisation with `keys` read_write keys in the database at `url`. */
export async function seedOrg(url: string, keys: number, limits: LimitOverrides = {}): Promise<SeededOrg> {
  const store = await openStore(url, STOPPED_CLOCKS)
  const orgId = randomUUID()
  await store.createOrg({ id: orgId, name: 'Seeded', plan: 'enterprise', nowMs: Date.now() })
  await store.overrideLimits(orgId, limits)
  const made: string[] = []
  // One at a time: on a busy machine, so many at once would wait too long for a connection.
  while (made.length < keys) made.push(await makeKey(store, orgId))
  await store.close()
  return { orgId, keys: made }
}

async function makeKey(store: Store, orgId: string): Promise<string> {
  const key = mintKey(systemEnvironment)
  const by = { kind: 'cli' } as const
  const stored = {
    id: randomUUID(),
    orgId,
    scope: 'read_write',
    hash: hashKey(key),
    last4: key.slice(-4),
  } as const
  await store.createKey({ ...stored, createdBy: null, note: null, by, nowMs: 0 })
  return key
}
