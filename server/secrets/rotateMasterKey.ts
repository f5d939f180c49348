import type { Environment } from '../domain/environment.ts'
import { KEY_BYTES, type MasterKey, masterKeyOf, rewrapValue } from '../domain/seal.ts'
import { lockRotation } from '../store/lockDataFolder.ts'
import type { SecretStore } from '../store/store.ts'
import { hasKeys, readKeys, writeKeys } from './keyring.ts'

/** Secrets rewrapped in one transaction: short enough that a running server does not notice. */
const BATCH_MAX = 200

export interface RotationParts {
  readonly store: SecretStore
  /** The file of the master key; it holds both keys until nothing needs the old one. */
  readonly file: string
  readonly dataDir: string
  readonly environment: Environment
}

/** What a rotation did. */
export interface Rotation {
  readonly activeId: string
  /** Secrets that were rewrapped. */
  readonly rewrapped: number
}

/**
 * Puts every secret under a new master key, while a server runs; values and `key_id`s stay what they are. The
 * new key is in the file before anything is sealed with it, the old one until nothing is: stopped anywhere in
 * between, every secret opens, and the next rotation finishes the work. Rejects where there is no key yet, and
 * while another rotation goes on: the last of two to write the file would drop the key that is in use.
 */
export async function rotateMasterKey(parts: RotationParts): Promise<Rotation> {
  const unlock = await lockRotation(parts.dataDir)
  try {
    return await rotate(parts)
  } finally {
    unlock()
  }
}

async function rotate(parts: RotationParts): Promise<Rotation> {
  const { store, file, dataDir, environment } = parts
  if (!hasKeys({ kind: 'file', file })) {
    throw new Error(
      `there is no master key in ${file}: the first start makes one, --master-key-file names another. One that is in PHAROS_MASTER_KEY has to be put into a file first`,
    )
  }
  const old = readKeys({ kind: 'file', file }, dataDir)
  const named = await store.masterKeyIds()
  for (const id of named) keyOf(old, id, file)
  const fresh = masterKeyOf(environment.randomBytes(KEY_BYTES))
  writeKeys(file, [fresh, ...old], dataDir)
  await store.activateMasterKey(fresh.id, environment.nowMs())
  let rewrapped = 0
  for (;;) {
    const done = await store.rewrapSome(fresh.id, BATCH_MAX, (sealed) =>
      rewrapValue(sealed, keyOf(old, sealed.masterKeyId, file), fresh, environment),
    )
    rewrapped += done
    if (done === 0) break
  }
  for (const id of named) await store.retireMasterKey(id)
  // Keys of other folders that use the same file stay.
  writeKeys(file, [fresh, ...old.filter(({ id }) => !named.includes(id))], dataDir)
  return { activeId: fresh.id, rewrapped }
}

function keyOf(keys: readonly MasterKey[], id: string, file: string): MasterKey {
  const key = keys.find((each) => each.id === id)
  if (key === undefined) throw new Error(`master key ${id} of this database is missing from ${file}`)
  return key
}
