import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { openStore } from '../../store/postgres/openStore.ts'
import { withConnection } from '../../store/postgres/schema/migrate.ts'
import { STOPPED_CLOCKS } from '../storedServices.ts'

/**
 * The outcome of a mutation according to its response: stored, not stored (500), or unknown (502, or a connection that
 * ended).
 */
export type Outcome = 'made' | 'refused' | 'unknown'

/** The responses to clients, for comparison with the database. */
export interface Ledger {
  /** Outcomes by action and name. Names are unique, and a repeated mutation has more than one outcome. */
  readonly outcomes: Map<string, readonly Outcome[]>
  /** The last response about each service; `null` after its deletion, absent after a later unknown outcome. */
  readonly services: Map<string, string | null>
  /** Display ids of incidents, by title. */
  readonly displayIds: Map<string, string>
}

export function emptyLedger(): Ledger {
  return { outcomes: new Map(), services: new Map(), displayIds: new Map() }
}

/** Adds an outcome of the mutation with this action and name. */
export function record({ outcomes }: Ledger, action: string, name: string, outcome: Outcome): void {
  const key = `${action} ${name}`
  outcomes.set(key, [...(outcomes.get(key) ?? []), outcome])
}

/**
 * Differences between `ledger` and the organisation `orgId` in the database at `url`: mutations that were lost, made
 * twice, or refused but made; services that differ from the last response, or lack a command; and numbers that were
 * used twice.
 */
export async function differences(url: string, orgId: string, ledger: Ledger): Promise<readonly string[]> {
  return [
    ...(await wrongMutations(url, orgId, ledger)),
    ...(await wrongServices(url, orgId, ledger)),
    ...(await wrongIncidents(url, orgId, ledger)),
  ]
}

async function wrongMutations(url: string, orgId: string, ledger: Ledger): Promise<readonly string[]> {
  // The statement of every mutation of a service also writes to the audit log.
  const made = await rowsOf<{ mutation: string; count: number }>(
    url,
    `SELECT action || ' ' || (detail::json ->> 'name') AS mutation, count(*)::integer AS count
     FROM audit WHERE org_id = $1 AND action LIKE 'service.%' GROUP BY 1
     UNION ALL SELECT 'incident.create ' || title, count(*)::integer FROM incidents WHERE org_id = $1 GROUP BY 1`,
    [orgId],
  )
  const counts = new Map(made.map(({ mutation, count }) => [mutation, count]))
  const unasked = made
    .filter(({ mutation }) => !ledger.outcomes.has(mutation))
    .map(({ mutation }) => `${mutation}: was not requested`)
  const wrong = [...ledger.outcomes].flatMap(([mutation, outcomes]) => {
    const count = counts.get(mutation) ?? 0
    const isMade = outcomes.includes('made')
    if (count > 1) return [`${mutation}: made ${count} times (${outcomes})`]
    if (isMade && count === 0) return [`${mutation}: lost (${outcomes})`]
    if (!isMade && !outcomes.includes('unknown') && count === 1)
      return [`${mutation}: refused and made (${outcomes})`]
    return []
  })
  return [...unasked, ...wrong]
}

async function wrongServices(url: string, orgId: string, ledger: Ledger): Promise<readonly string[]> {
  const store = await openStore(url, STOPPED_CLOCKS)
  const listed = await store.listServices(orgId)
  const commands = await store.listCommands({ orgId })
  await store.close()
  const stored = new Map(listed.map(({ text }) => [serviceResponseSchema.parse(JSON.parse(text)).id, text]))
  const changed = [...ledger.services]
    .filter(([id, text]) => (stored.get(id) ?? null) !== text)
    .map(([id]) => `service ${id} is not as in its last response`)
  const silent = listed.flatMap(({ text, generation }) => {
    const { id, regions } = serviceResponseSchema.parse(JSON.parse(text))
    const started = commands.filter(
      (command) =>
        command.serviceId === id &&
        command.generation === generation &&
        command.type === 'StartServiceMonitoring',
    )
    const missing = regions.filter((region) => !started.some((command) => command.region === region))
    return missing.length === 0 ? [] : [`service ${id} lacks a command for ${missing}`]
  })
  return [...changed, ...silent]
}

async function wrongIncidents(url: string, orgId: string, ledger: Ledger): Promise<readonly string[]> {
  const rows = await rowsOf<{ title: string; number: number }>(
    url,
    'SELECT title, number FROM incidents WHERE org_id = $1 ORDER BY number',
    [orgId],
  )
  const numbered = new Map(rows.map(({ title, number }) => [title, `INC-${number}`]))
  const renumbered = [...ledger.displayIds]
    .filter(([title, displayId]) => numbered.get(title) !== displayId)
    .map(
      ([title, displayId]) => `incident ${title} got the number ${displayId}, and has ${numbered.get(title)}`,
    )
  const isGapless = rows.every(({ number }, index) => number === index + 1)
  return isGapless ? renumbered : [...renumbered, 'the numbers of incidents have a gap']
}

async function rowsOf<Row extends object>(
  url: string,
  text: string,
  values: unknown[],
): Promise<readonly Row[]> {
  return await withConnection(url, async (client) => (await client.query<Row>(text, values)).rows)
}
