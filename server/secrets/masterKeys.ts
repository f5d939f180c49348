import { ApiError } from '../../api/contract/apiError.ts'
import { SYSTEM } from '../domain/accounts/actor.ts'
import type { Environment } from '../domain/environment.ts'
import { KEY_BYTES, type MasterKey, masterKeyOf } from '../domain/seal.ts'
import type { SecretStore, UpkeepStore } from '../store/store.ts'
import { hasKeys, type KeySource, makeKey, readKeys } from './keyring.ts'

/** Returns the master key with this id. Throws when it is missing. */
export type FindMasterKey = (id: string) => MasterKey

/** The sources of master keys. */
export interface MasterKeyParts {
  readonly store: SecretStore & Pick<UpkeepStore, 'probeWrite'>
  readonly source: KeySource
  readonly dataDir: string | null
  /** Whether a missing master key is created, as in the setting of the engine. */
  readonly makesMasterKeys: boolean
  readonly environment: Environment
}

/**
 * Loads the master keys of the database, and creates the first one of a new database. Rejects when one is missing: all
 * values sealed under it would be lost, and a new key would hide that.
 */
export async function openMasterKeys(parts: MasterKeyParts): Promise<FindMasterKey> {
  const { store, source, dataDir, environment } = parts
  const named = await store.masterKeyIds()
  if (!hasKeys(source) && source.kind === 'file') {
    if (named.length > 0) throw new Error(missing(source, named))
    if (!parts.makesMasterKeys) throw new Error(unmade(source.file))
    // Fails before the database is created when the key could not be stored.
    await store.probeWrite(environment.nowMs())
    makeKey(source.file, masterKeyOf(environment.randomBytes(KEY_BYTES)), dataDir)
  }
  const find = keyFinder(source, dataDir)
  for (const id of named) find(id)
  const first = readKeys(source, dataDir)[0]
  if (named.length === 0 && first !== undefined) {
    await store.activateMasterKey(first.id, environment.nowMs(), SYSTEM)
  }
  return find
}

/**
 * Rejects with `unavailable` and the reason when a master key of the database cannot be read from the source that the
 * next start would use: the running server has the key in memory, but could not start again.
 */
export async function assertMasterKeys(
  parts: Pick<MasterKeyParts, 'store' | 'source' | 'dataDir'>,
): Promise<void> {
  const { store, source, dataDir } = parts
  const named = await store.masterKeyIds()
  try {
    const readable = new Set(readKeys(source, dataDir).map(({ id }) => id))
    const absent = named.filter((id) => !readable.has(id))
    if (absent.length > 0) throw new Error(missing(source, absent))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ApiError('unavailable', `the master key cannot be used: ${reason}`, { cause: error })
  }
}

/** Reads the source again for an unknown id, because a rotation in another process may have added it. */
function keyFinder(source: KeySource, dataDir: string | null): FindMasterKey {
  let keys: ReadonlyMap<string, MasterKey> = new Map()
  return (id) => {
    if (!keys.has(id)) keys = new Map(readKeys(source, dataDir).map((key) => [key.id, key]))
    const key = keys.get(id)
    if (key === undefined) throw new Error(missing(source, [id]))
    return key
  }
}

function missing(source: KeySource, ids: readonly string[]): string {
  const [where, remedy] =
    source.kind === 'file'
      ? [source.file, 'put the file back, or name it with --master-key-file']
      : ['PHAROS_MASTER_KEY', 'set it to that key, or unset it and name its file with --master-key-file']
  return `master key ${ids.join(', ')} of this database is missing from ${where}: ${remedy}`
}

function unmade(file: string): string {
  return `there is no master key in ${file}: create one with "openssl rand -hex 32", the same for every server`
}
