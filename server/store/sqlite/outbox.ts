import type { Command } from '../../domain/commands.ts'
import type { GroupCommit } from './commits/groupCommit.ts'
import type { Connections } from './files/openDatabase.ts'
import type { CommandFilter, LoggedCommand, OutboxStore, PendingDelivery } from '../store.ts'

/** Most that the definitions of one fetch are together (bytes): services may be any number, and 1 MiB each. */
const FETCHED_BYTES_MAX = 8 * 1024 * 1024

/** A command that waits, and what its service is by now; nulls when that is deleted. */
interface WaitingRow extends Command {
  readonly sequence: number
  readonly definitionGeneration: number | null
  readonly runningIn: string | null
}

const PUBLISHED_UP_TO = '(SELECT published_up_to FROM publication)'

/** The parts that the outbox shares with the rest of the store. */
interface Sharing {
  readonly commits: GroupCommit
  readonly storeId: string
}

/**
 * The outbox in SQLite. Its one writer makes sequence numbers visible in their order, so that one number says
 * what is published; a mark in each row would write every command twice. Commands keep no definition: a region gets the
 * newest, read when it is told. What was just written is read by the connection that wrote it: the other one would
 * fetch every page from the log.
 */
export function sqliteOutbox({ reader, writer }: Connections, { commits, storeId }: Sharing): OutboxStore {
  const oldest = writer.prepare<[number], WaitingRow>(
    `SELECT c.sequence, c.type, c.region, c.service_id AS serviceId, c.generation,
       s.definition_generation AS definitionGeneration, s.running_in AS runningIn
     FROM commands c LEFT JOIN services s ON s.id = c.service_id
     WHERE c.sequence > ${PUBLISHED_UP_TO} ORDER BY c.sequence LIMIT ?`,
  )
  const definition = writer.prepare<[string], string>('SELECT response FROM services WHERE id = ?').pluck()
  const mark = writer.prepare('UPDATE publication SET published_up_to = max(published_up_to, ?)')
  const list = prepareLog(reader)
  return {
    pendingDeliveries: async (countMax) =>
      deliveriesOf(oldest.iterate(countMax), (serviceId) => definition.get(serviceId) ?? '', storeId),
    markPublished: (sequence) =>
      commits.run(() => {
        mark.run(sequence)
      }),
    listCommands: async (filter = {}) => list(filter),
  }
}

/** What the commands `rows` tell, as far as that is affordable at once: at least the first. */
function deliveriesOf(
  rows: Iterable<WaitingRow>,
  definitionOf: (serviceId: string) => string,
  storeId: string,
): readonly PendingDelivery[] {
  const definitions = new Map<string, string>()
  const deliveries: PendingDelivery[] = []
  let bytes = 0
  for (const { sequence, region, serviceId, definitionGeneration, runningIn, ...row } of rows) {
    const generation = definitionGeneration ?? row.generation
    if (!(runningIn ?? '').split(',').includes(region)) {
      const type = 'EndServiceMonitoring'
      deliveries.push({ sequence, type, region, serviceId, generation, storeId, definition: null })
      continue
    }
    const known = definitions.get(serviceId)
    const definition = known ?? definitionOf(serviceId)
    if (known === undefined) bytes += Buffer.byteLength(definition)
    if (bytes > FETCHED_BYTES_MAX && deliveries.length > 0) break
    definitions.set(serviceId, definition)
    const type = 'StartServiceMonitoring'
    deliveries.push({ sequence, type, region, serviceId, generation, storeId, definition })
  }
  return deliveries
}

/** Every command as SQLite reads it. */
type LogRow = Omit<LoggedCommand, 'isPublished'> & { readonly isPublished: number }

function prepareLog(reader: Connections['reader']): (filter: CommandFilter) => readonly LoggedCommand[] {
  const select = reader.prepare<[Record<string, string | number | null>], LogRow>(
    `SELECT sequence, type, region, service_id AS serviceId, generation, org_id AS orgId,
       created_at_ms AS createdAtMs, sequence <= ${PUBLISHED_UP_TO} AS isPublished
     FROM commands
     WHERE sequence > max(@afterSequence, CASE WHEN @isUnpublished THEN ${PUBLISHED_UP_TO} ELSE 0 END)
       AND (@orgId IS NULL OR org_id = @orgId) AND (@serviceId IS NULL OR service_id = @serviceId)
       AND (@region IS NULL OR region = @region)
     ORDER BY sequence LIMIT @countMax`,
  )
  return ({ orgId, serviceId, region, isUnpublished = false, afterSequence = 0, countMax }) => {
    const texts = { orgId: orgId ?? null, serviceId: serviceId ?? null, region: region ?? null }
    const numbers = { isUnpublished: isUnpublished ? 1 : 0, afterSequence, countMax: countMax ?? -1 }
    return select.all({ ...texts, ...numbers }).map((row) => ({ ...row, isPublished: row.isPublished === 1 }))
  }
}
