import type { Environment } from '../domain/environment.ts'
import { KEY_BYTES, type MasterKey, masterKeyOf, rewrapValue } from '../domain/seal.ts'
import type { Engine } from '../store/engine.ts'
import type { SecretStore } from '../store/store.ts'
import { hasKeys, type KeySource, readKeys, replaceKeys } from './keyring.ts'

/** Maximum number of secrets rewrapped in one transaction, during which a running server handles no requests. */
const BATCH_MAX = 200

export interface RotationParts {
  readonly store: SecretStore
  readonly engine: Pick<Engine, 'lock'>
  /**
   * Source of the master key. A file gets a new key, and contains both until the old one is unused. A text must begin
   * with the new key, because only the operator can change it.
   */
  readonly source: KeySource
  readonly dataDir: string | null
  readonly environment: Environment
  /**
   * Waits between two transactions. A server that waits for the lock retries only periodically, and without a pause it
   * would find a transaction every time.
   */
  readonly yieldTurn: () => Promise<void>
}

/** The result of a rotation. */
export interface Rotation {
  readonly activeId: string
  readonly rewrapped: number
}

/**
 * Rewraps every secret with a new master key while a server runs. Values and `key_id`s are unchanged. The new key is
 * durable in the file before it is used, and the old one stays there until it is unused. After an interruption at any
 * point, even a power cut, every secret can be opened, and the next rotation completes the work. The file keeps its
 * owner, who may not be the operator. Rejects when there is no key yet, and while another rotation runs, because the
 * last one to write the file would drop the key in use.
 */
export async function rotateMasterKey(parts: RotationParts): Promise<Rotation> {
  const unlock = await parts.engine.lock('rotation')
  try {
    return await rotate(parts)
  } finally {
    await unlock()
  }
}

async function rotate(parts: RotationParts): Promise<Rotation> {
  const { store, source, dataDir, environment, yieldTurn } = parts
  const known = hasKeys(source) ? readKeys(source, dataDir) : []
  const named = await store.masterKeyIds()
  for (const id of named) keyOf(known, id, source)
  const fresh = freshKey(known, named, parts)
  await store.activateMasterKey(fresh.id, environment.nowMs())
  let rewrapped = 0
  for (;;) {
    const done = await store.rewrapSome(fresh.id, BATCH_MAX, (sealed) =>
      rewrapValue(sealed, keyOf(known, sealed.masterKeyId, source), fresh, environment),
    )
    rewrapped += done
    if (done === 0) break
    await yieldTurn()
  }
  const retired = named.filter((id) => id !== fresh.id)
  for (const id of retired) await store.retireMasterKey(id, environment.nowMs())
  // Keys of other data folders in the same file are kept, including those added meanwhile.
  if (source.kind === 'file') {
    const kept = readKeys(source, dataDir).filter(({ id }) => id !== fresh.id && !retired.includes(id))
    replaceKeys(source.file, [fresh, ...kept], dataDir)
  }
  return { activeId: fresh.id, rewrapped }
}

/** The new key; in a file, it has just been written before the others. */
function freshKey(
  known: readonly MasterKey[],
  named: readonly string[],
  { source, dataDir, environment }: RotationParts,
): MasterKey {
  if (source.kind === 'file') {
    if (known.length === 0) {
      throw new Error(
        `there is no master key in ${source.file}: the first start creates one, --master-key-file names another`,
      )
    }
    const fresh = masterKeyOf(environment.randomBytes(KEY_BYTES))
    replaceKeys(source.file, [fresh, ...known], dataDir)
    return fresh
  }
  const [first] = known
  if (first === undefined || named.length === 0 || (named.length === 1 && named.includes(first.id))) {
    throw new Error(
      'PHAROS_MASTER_KEY begins with the key that is in use: set it to NEW,OLD, restart the server with that value, then rotate again with the same value',
    )
  }
  return first
}

function keyOf(keys: readonly MasterKey[], id: string, source: KeySource): MasterKey {
  const key = keys.find((each) => each.id === id)
  const where = source.kind === 'file' ? source.file : 'PHAROS_MASTER_KEY'
  if (key === undefined) throw new Error(`master key ${id} of this database is missing from ${where}`)
  return key
}
