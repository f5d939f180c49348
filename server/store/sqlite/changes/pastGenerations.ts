import type { Database } from 'better-sqlite3'
import {
  type Ending,
  type GenerationRow,
  generationsOf,
  originIn,
  PAST_BYTES_MAX,
  pastRows,
} from '../../shared/pastGeneration.ts'
import type { ServiceStore } from '../../store.ts'

/** Maximum number of generations that one change deletes: more than it adds, so that a backlog shrinks. */
const DELETED_AT_ONCE = 100
const DAY_MS = 24 * 60 * 60 * 1_000

/** Stores the generation that a change replaces, in the caller's transaction. */
export type StorePastGeneration = (orgId: string, ending: Ending) => void

/**
 * Prepares storing past generations. The current one is only in `services`: a creation writes nothing here. Each row
 * has a running total of the bytes of its organisation, which saves summing them.
 */
export function preparePastGenerations(writer: Database, bytesMax = PAST_BYTES_MAX): StorePastGeneration {
  const newest = writer
    .prepare<[string], number | null>('SELECT max(bytes_up_to) FROM past_generations WHERE org_id = ?')
    .pluck()
  const insert = writer.prepare(
    `INSERT INTO past_generations (org_id, service_id, generation, until_ms, origin, definition, bytes_up_to)
     VALUES (@orgId, @serviceId, @generation, @untilMs, @origin, @definition, @bytesUpTo)`,
  )
  const forget = writer.prepare(
    `DELETE FROM past_generations WHERE sequence IN
       (SELECT sequence FROM past_generations WHERE org_id = ? AND bytes_up_to <= ?
        ORDER BY bytes_up_to LIMIT ${DELETED_AT_ONCE})`,
  )
  return (orgId, ending) => {
    const rows = pastRows(ending, newest.get(orgId) ?? 0)
    for (const row of rows) insert.run({ orgId, ...row })
    const bytesUpTo = rows.at(-1)?.bytesUpTo ?? 0
    if (bytesUpTo > bytesMax) forget.run(orgId, bytesUpTo - bytesMax)
  }
}

/** Prepares deleting generations without stored results; it returns their number. */
export function prepareGenerationCleanup(writer: Database, countMax: number): (nowMs: number) => number {
  const forget = writer.prepare(
    `DELETE FROM past_generations WHERE sequence IN
       (SELECT g.sequence FROM orgs o JOIN plans p ON p.name = o.plan
        JOIN past_generations g ON g.org_id = o.id
          AND g.until_ms < @nowMs - coalesce(o.results_days, p.results_days) * ${DAY_MS}
        LIMIT ${countMax})`,
  )
  return (nowMs) => forget.run({ nowMs }).changes
}

/** Prepares the reading of the generations of a service. */
export function readGenerations(reader: Database): ServiceStore['generationsOf'] {
  const current = reader.prepare<[string], GenerationRow>(
    `SELECT generation, origin, response AS definition, NULL AS untilMs FROM services WHERE id = ?`,
  )
  const past = reader.prepare<[string], GenerationRow>(
    `SELECT generation, origin, definition, until_ms AS untilMs FROM past_generations
     WHERE service_id = ? ORDER BY generation DESC`,
  )
  return async (serviceId) => generationsOf(current.get(serviceId), past.all(serviceId))
}

/** Prepares reading the origins of the services of an organisation. */
export function readOrigins(reader: Database): ServiceStore['listOrigins'] {
  const current = reader.prepare<[string], { id: string; name: string; origin: string | null }>(
    `SELECT id, json_extract(response, '$.name') AS name, origin FROM services WHERE org_id = ?
     ORDER BY name COLLATE NOCASE, id`,
  )
  const past = reader
    .prepare<[string], string | null>(
      'SELECT origin FROM past_generations WHERE service_id = ? ORDER BY generation DESC',
    )
    .pluck()
  return async (orgId) =>
    current.all(orgId).map(({ id, name, origin }) => {
      const newest = originIn(origin)
      const isByPerson = newest !== null && newest.personId !== null
      return { id, name, origins: [newest, ...(isByPerson ? past.all(id).map(originIn) : [])] }
    })
}
