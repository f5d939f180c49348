import type { Environment } from '../domain/environment.ts'
import { KEY_BYTES, type MasterKey, masterKeyOf, rewrapValue } from '../domain/seal.ts'
import type { Engine } from '../store/engine.ts'
import type { SecretStore } from '../store/store.ts'
import { hasKeys, type KeySource, readKeys, replaceKeys } from './keyring.ts'

/** Secrets rewrapped in one transaction: a running server waits for its end, and answers no request meanwhile. */
const BATCH_MAX = 200

export interface RotationParts {
  readonly store: SecretStore
  readonly engine: Pick<Engine, 'lock'>
  /**
   * Where the master key is. A file gets a new key, and holds both until nothing needs the old one; a text has to
   * begin with the new one, because only its owner can change it.
   */
  readonly source: KeySource
  readonly dataDir: string
  readonly environment: Environment
  /**
   * Waits between two transactions. A server that waits for the first looks again only now and then: without a pause
   * it would find the next one every time.
   */
  readonly giveWay: () => Promise<void>
}

/** The result of a rotation. */
export interface Rotation {
  readonly activeId: string
  /** Secrets that were rewrapped. */
  readonly rewrapped: number
}

/**
 * Puts every secret under a new master key, while a server runs; values and `key_id`s stay what they are. The
 * new key is in the file, and durable there, before anything is sealed with it, the old one until nothing is: stopped
 * anywhere in between, by a power cut too, every secret opens, and the next rotation finishes the work. The file stays
 * its owner's, who may be another user than the one who rotates. Rejects where there is no key yet, and
 * while another rotation goes on: the last of two to write the file would drop the key that is in use.
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
  const { store, source, dataDir, environment, giveWay } = parts
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
    await giveWay()
  }
  const retired = named.filter((id) => id !== fresh.id)
  for (const id of retired) await store.retireMasterKey(id)
  // Keys of other folders that use the same file stay, those too that came into it meanwhile.
  if (source.kind === 'file') {
    const kept = readKeys(source, dataDir).filter(({ id }) => id !== fresh.id && !retired.includes(id))
    replaceKeys(source.file, [fresh, ...kept], dataDir)
  }
  return { activeId: fresh.id, rewrapped }
}

/** The key to put everything under; of a file, one that was just written before the others. */
function freshKey(
  known: readonly MasterKey[],
  named: readonly string[],
  { source, dataDir, environment }: RotationParts,
): MasterKey {
  if (source.kind === 'file') {
    if (known.length === 0) {
      throw new Error(
        `there is no master key in ${source.file}: the first start makes one, --master-key-file names another`,
      )
    }
    const fresh = masterKeyOf(environment.randomBytes(KEY_BYTES))
    replaceKeys(source.file, [fresh, ...known], dataDir)
    return fresh
  }
  const [first] = known
  if (first === undefined || named.length === 0 || (named.length === 1 && named.includes(first.id))) {
    throw new Error(
      'PHAROS_MASTER_KEY begins with the key that is in use: set it to NEW,OLD, start the server with that, and rotate again with the same value',
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
