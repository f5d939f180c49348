import type { Database } from 'better-sqlite3'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import { actorOf } from '../../domain/changeOrigin.ts'
import type { SealedValue } from '../../domain/seal.ts'
import type { Service, ServiceChange } from '../../domain/serviceChanges.ts'
import type { AutoIncidents } from '../shared/autoIncidents.ts'
import { DiskFullError } from '../shared/diskFullError.ts'
import { WHOLE_LIST_BYTES_MAX } from '../shared/listPieces.ts'
import { keepsOrigin } from '../shared/pastGeneration.ts'
import { columnsOf, usageOf } from '../shared/serviceRow.ts'
import type { RenderedService, ServiceFacts, ServiceStore } from '../store.ts'
import type { RecordAction } from './changes/audit.ts'
import { prepareIdempotency } from './changes/idempotentCreations.ts'
import { preparePastGenerations } from './changes/pastGenerations.ts'
import { preparePublish } from './changes/publishCommands.ts'
import { cacheUntilCommit } from './commits/cacheUntilCommit.ts'
import type { CommittedVersion } from './commits/committedVersion.ts'
import type { GroupCommit } from './commits/groupCommit.ts'
import type { Connections } from './files/openDatabase.ts'
import { LIST_LENGTH_SQL, openLongList } from './longList.ts'
import { prepareFacts, type ServiceFactsStore } from './serviceFacts.ts'

/** Size of each cache, for rendered lists and for rendered services (bytes). */
const KEPT_BYTES_MAX = 32 * 1024 * 1024
/** Size in the cache of an absent service, or of a list that is too long (bytes). */
const ABSENT_BYTES = 100

/** Dependencies that services share with the rest of the store. */
interface Sharing {
  readonly commits: GroupCommit
  readonly version: CommittedVersion
  readonly nowMs: () => number
  readonly autoIncidents: AutoIncidents
  readonly note: RecordAction
}

/** Services in SQLite. The rendered response is stored, so that a read parses nothing. */
export function sqliteServices(
  { reader, writer }: Connections,
  { commits, version, nowMs, autoIncidents, note }: Sharing,
) {
  const listAll = reader.prepare<[string], RenderedService>(
    'SELECT response AS text, generation FROM services WHERE org_id = ? ORDER BY position',
  )
  const selectOne = 'SELECT response AS text, generation FROM services WHERE id = ? AND org_id = ?'
  const concatenate = reader
    .prepare<[string], Buffer>(
      `SELECT CAST('[' || coalesce(group_concat(response, ',' ORDER BY position), '') || ']' AS BLOB)
       FROM services WHERE org_id = ?`,
    )
    .pluck()
  const readOne = reader.prepare<[string, string], RenderedService>(selectOne)
  const generations = reader
    .prepare<[string], [string, number]>('SELECT id, generation FROM services WHERE org_id = ?')
    .raw()
  const readForChange = writer.prepare<[string, string], ChangingRow>(
    `SELECT response AS text, generation, definition_generation AS definitionGeneration, origin
     FROM services WHERE id = ? AND org_id = ?`,
  )
  const lengthOf = reader.prepare<[string], number>(LIST_LENGTH_SQL).pluck()
  const lists = cacheUntilCommit<Buffer | undefined>(
    version,
    KEPT_BYTES_MAX,
    (list) => list?.length ?? ABSENT_BYTES,
  )
  const services = cacheUntilCommit<RenderedService | undefined>(
    version,
    KEPT_BYTES_MAX,
    (service) => service?.text.length ?? ABSENT_BYTES,
  )
  const facts = prepareFacts(writer, commits)
  const assertGrowth = () => commits.assertGrowth()
  const apply = prepareApply(writer, facts, { assertGrowth, autoIncidents, note })
  const remember = prepareIdempotency(writer)
  const keepPast = preparePastGenerations(writer)
  return {
    listServices: async (orgId) => listAll.all(orgId),
    serviceGenerations: async (orgId) => new Map(generations.all(orgId)),
    renderServices: async (orgId) =>
      lists(orgId, () =>
        (lengthOf.get(orgId) ?? 0) > WHOLE_LIST_BYTES_MAX ? undefined : concatenate.get(orgId),
      ),
    openServices: (orgId) => openLongList(reader.name, orgId),
    getService: async (orgId, serviceId) =>
      services(`${orgId} ${serviceId}`, () => readOne.get(serviceId, orgId)),
    createService: (orgId, fingerprint, decide) =>
      commits.run(() => {
        const now = nowMs()
        const text = remember(orgId, fingerprint, now, () => {
          const known = facts.read(orgId)
          return apply(known, null, decide(known), now).text
        })
        return { text, generation: 1 }
      }),
    changeService: (orgId, serviceId, decide) =>
      commits.run(() => {
        const row = readForChange.get(serviceId, orgId)
        if (row === undefined) return undefined
        // True because only rendered ServiceResponses are stored.
        const response = JSON.parse(row.text) as ServiceResponse
        const { generation, definitionGeneration } = row
        const current: Service = { response, generation, definitionGeneration }
        const known = facts.read(orgId)
        const change = decide(current, known)
        if (change === null) return { text: row.text, generation }
        const now = nowMs()
        if (canGrow(commits))
          keepPast(known.quota.orgId, { service: current, origin: row.origin, change, nowMs: now })
        return apply(known, current, change, now)
      }),
  } satisfies Partial<ServiceStore>
}

/** Whether the disk has space for more than deletions; a delete then stores no history. */
function canGrow(commits: GroupCommit): boolean {
  try {
    commits.assertGrowth()
    return true
  } catch (error) {
    if (error instanceof DiskFullError) return false
    throw error
  }
}

interface ChangingRow extends RenderedService {
  readonly definitionGeneration: number
  /** ChangeOrigin as JSON. */
  readonly origin: string | null
}

interface ApplyParts {
  readonly assertGrowth: () => void
  readonly autoIncidents: AutoIncidents
  readonly note: RecordAction
}

type Apply = (
  facts: ServiceFacts,
  before: Service | null,
  change: ServiceChange,
  nowMs: number,
) => RenderedService

function prepareApply(
  writer: Database,
  { use }: Pick<ServiceFactsStore, 'use'>,
  { assertGrowth, autoIncidents, note }: ApplyParts,
): Apply {
  const insert = writer.prepare(
    `INSERT INTO services (id, org_id, generation, definition_generation, running_in, response, origin)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const update = writer.prepare(
    `UPDATE services SET generation = ?, definition_generation = ?, running_in = ?, response = ?,
       origin = iif(?, origin, ?) WHERE id = ?`,
  )
  const remove = writer.prepare('DELETE FROM services WHERE id = ?')
  // Only the newest change of a service without a command is kept.
  const noteQuietChange = writer.prepare('INSERT OR REPLACE INTO quiet_changes (service_id) VALUES (?)')
  const seal = prepareSeal(writer)
  const publish = preparePublish(writer)
  return (facts, before, change, nowMs) => {
    const { service, text, sealed, commands } = change
    if (!freesSpace(before, service)) assertGrowth()
    const id = service?.response.id ?? before?.response.id ?? ''
    // Ends are written before the row is deleted. Contract: Service, delete.
    const { orgId } = facts.quota
    const origin = change.origin === undefined ? null : JSON.stringify(change.origin)
    publish(orgId, commands, nowMs)
    if (commands.length === 0) noteQuietChange.run(id)
    if (service === null) remove.run(id)
    else {
      const { generation, definitionGeneration, runningIn } = columnsOf(service)
      const columns = [generation, definitionGeneration, runningIn, text]
      if (before === null) insert.run(id, orgId, ...columns, origin)
      else update.run(...columns, Number(keepsOrigin(change)), origin, id)
    }
    if (before !== null) autoIncidents.follow(before.response, service?.response ?? null)
    if (service !== null && sealed !== null) seal(id, sealed, before !== null)
    use(facts, usageOf(before), usageOf(service))
    const { name } = service?.response ?? before?.response ?? {}
    const by = actorOf(change.origin)
    note({ orgId, by, action: `service.${change.action}`, targetId: id, nowMs, detail: { name } })
    return { text, generation: service?.generation ?? (before?.generation ?? 0) + 1 }
  }
}

/** Whether the change frees space or stops its growth: a delete, or a pause. */
function freesSpace(before: Service | null, after: Service | null): boolean {
  return (
    after === null ||
    (before?.response.paused_at == null && before !== null && after.response.paused_at != null)
  )
}

function prepareSeal(writer: Database) {
  const remove = writer.prepare('DELETE FROM sealed_values WHERE service_id = ?')
  const insert = writer.prepare<SealedValue>(
    `INSERT INTO sealed_values (key_id, org_id, service_id, endpoint_id, slot, master_key_id, wrap_nonce, wrapped_key,
       nonce, ciphertext)
     VALUES (@keyId, @orgId, @serviceId, @endpointId, @slot, @masterKeyId, @wrapNonce, @wrappedKey, @nonce, @ciphertext)`,
  )
  return (serviceId: string, sealed: readonly SealedValue[], hadSome: boolean): void => {
    if (hadSome) remove.run(serviceId)
    for (const value of sealed) insert.run(value)
  }
}
