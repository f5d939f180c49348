import { randomUUID } from 'node:crypto'
import type { CertificateNotice } from '../../domain/certificateNotices.ts'
import type { NamedEndpoint } from '../../domain/notifications/events.ts'
import { orderedUuid } from '../../domain/orderedUuid.ts'
import type { AppliedEffect, MonitoringStore, Transition } from '../monitoringStore.ts'
import { insertEvent } from '../notifications/insertEvent.ts'
import { definitionJson } from '../scripts/definitionJson.ts'
import { certificateEvents, type SubscribedChannel } from '../shared/events.ts'
import { orgNotFound } from '../shared/orgNotFound.ts'
import { effectsOf } from '../shared/transitionEffects.ts'
import { uuidOrNull, uuidsIn } from '../shared/uuid.ts'
import { rowOf, type Sql } from './connections/sql.ts'
import { execute } from './postgresScripts.ts'
import { Draft } from './writes/draft.ts'
import { guardedWrite } from './writes/guardedWrite.ts'
import { type OrgState, readOrg } from './writes/orgState.ts'
import type { StoreParts } from './writes/storeParts.ts'

/** A transition that waits to be applied. */
interface Waiting {
  readonly resultsFile: string
  readonly after: number
  readonly transition: Transition
  readonly resolve: (effect: AppliedEffect) => void
  readonly reject: (error: unknown) => void
}

const NOTHING: AppliedEffect = { kind: 'nothing' }
/** Kinds of transitions with an effect; others are only marked as applied. */
const EFFECTIVE: ReadonlySet<string> = new Set([
  'service.round',
  'service.recovered',
  'service.steady',
  'certificate.expiring',
])

/** Applies transitions in order; consecutive ones without an effect are marked together. */
export function transitionApplier(parts: StoreParts): MonitoringStore['applyTransition'] {
  const waiting: Waiting[] = []
  let isRunning = false

  async function run(): Promise<void> {
    for (let group = nextGroup(waiting); group.length > 0; group = nextGroup(waiting)) {
      try {
        const effect = await applyGroup(parts, group)
        for (const { resolve } of group) resolve(effect)
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
  }

  return (resultsFile, after, transition) =>
    new Promise((resolve, reject) => {
      waiting.push({ resultsFile, after, transition, resolve, reject })
      if (isRunning) return
      isRunning = true
      // Groups the transitions that are passed in one turn of the event loop.
      queueMicrotask(() => {
        void run().finally(() => {
          isRunning = false
        })
      })
    })
}

/** The first of `waiting`, with its successors as long as none of them has an effect. */
function nextGroup(waiting: Waiting[]): readonly Waiting[] {
  let length = Math.min(waiting.length, 1)
  for (;;) {
    const last = waiting[length - 1]
    const next = waiting[length]
    if (last === undefined || next === undefined) break
    const isNext = next.resultsFile === last.resultsFile && next.after === last.transition.sequence
    if (!isNext || [last, next].some(({ transition }) => EFFECTIVE.has(transition.kind))) break
    length += 1
  }
  return waiting.splice(0, length)
}

/** Applies transitions: one, or several without an effect. */
async function applyGroup(parts: StoreParts, group: readonly Waiting[]): Promise<AppliedEffect> {
  const [first, last] = [group[0], group.at(-1)]
  if (first === undefined || last === undefined) return NOTHING
  const { transition } = first
  const mark = (sql: Sql) => markApplied(sql, first.resultsFile, first.after, last.transition.sequence)
  const orgId = await orgOf(parts.pools.read, transition)
  if (orgId === undefined) {
    await parts.pools.inTransaction(mark)
    return NOTHING
  }
  return parts.queues.withOrgLocked(orgId, orgNotFound(orgId), async (sql) => {
    await mark(sql)
    return transition.kind === 'certificate.expiring'
      ? await giveNotice(sql, parts, JSON.parse(transition.body) as CertificateNotice)
      : await changeIncidents(sql, parts, orgId, transition)
  })
}

/** The organisation whose data a transition may change; `undefined` when it changes nothing. */
async function orgOf(read: Sql, { kind, serviceId, body }: Transition): Promise<string | undefined> {
  if (!EFFECTIVE.has(kind)) return undefined
  // True because the results thread wrote the body.
  const named = kind === 'certificate.expiring' ? (JSON.parse(body) as CertificateNotice).org_id : undefined
  const row = await rowOf<{ id: string }>(
    read,
    named === undefined
      ? 'SELECT org_id AS id FROM services WHERE id = $1'
      : 'SELECT id FROM orgs WHERE id = $1',
    [uuidOrNull(named ?? serviceId)],
  )
  return row?.id
}

async function markApplied(sql: Sql, resultsFile: string, after: number, upTo: number): Promise<void> {
  const marked = await sql.rows(
    `INSERT INTO applied_transitions AS a (results_file, sequence)
     SELECT $1, $3 WHERE $2::bigint = 0 OR EXISTS (SELECT FROM applied_transitions)
     ON CONFLICT (only_row) DO UPDATE SET results_file = excluded.results_file, sequence = excluded.sequence
       WHERE CASE WHEN a.results_file = $1 THEN a.sequence ELSE 0 END = $2 RETURNING only_row`,
    [resultsFile, after, upTo],
  )
  if (marked.length === 0) throw new Error('transitions must be applied in order')
}

/** Applies a transition that changes incidents. The caller has locked the organisation. */
async function changeIncidents(
  sql: Sql,
  { nowMs }: Pick<StoreParts, 'nowMs'>,
  orgId: string,
  transition: Transition,
): Promise<AppliedEffect> {
  const { serviceId, atS } = transition
  const state: OrgState | undefined = await readOrg(sql, orgId, [{ serviceIds: [serviceId], foundAtS: atS }])
  // The service may have been deleted since its organisation was read.
  if (state?.automatic.has(serviceId) !== true) return NOTHING
  const draft = new Draft(state, nowMs)
  const effect = effectsOf({ autoIncidents: draft.autoIncidents, giveNotice: () => false })(transition)
  if (draft.isEmpty) return effect
  const { text, values } = guardedWrite(draft, randomUUID())
  const row = await rowOf<{ written: number }>(sql, text, values)
  if (row?.written !== 1) throw new Error('an organisation changed while it was locked')
  return effect
}

/** Stores a new notice and its events. Does nothing for a notice that was given before. */
async function giveNotice(
  sql: Sql,
  { nowMs }: Pick<StoreParts, 'nowMs'>,
  notice: CertificateNotice,
): Promise<AppliedEffect> {
  const { org_id, host, port, fingerprint, threshold_s, not_after_s, endpoint_ids } = notice
  const stored = await sql.rows(
    `INSERT INTO certificate_notices (org_id, host, port, fingerprint, threshold_s, not_after_s)
     SELECT $1, $2, $3, $4, $5, $6 WHERE NOT EXISTS
       (SELECT FROM certificate_notices WHERE org_id = $1 AND host = $2 AND port = $3 AND fingerprint = $4
          AND threshold_s <= $5) RETURNING port`,
    [org_id, host, port, fingerprint, threshold_s, not_after_s],
  )
  if (stored.length === 0) return NOTHING
  const channels = await sql.rows<SubscribedChannel>(
    `SELECT id, events, service_ids AS "serviceIds" FROM channels WHERE org_id = $1 AND state = 'active'`,
    [org_id],
  )
  if (channels.length === 0) return { kind: 'noticed' }
  const org = await rowOf<{ id: string; name: string }>(sql, 'SELECT id, name FROM orgs WHERE id = $1', [
    org_id,
  ])
  const endpoints = await readEndpoints(sql, endpoint_ids)
  const tools = { nowMs, uuid: () => orderedUuid(nowMs(), randomUUID()) }
  const about = { org: org ?? { id: org_id, name: '' }, endpoints }
  for (const event of certificateEvents(notice, about, channels, tools))
    await execute(sql, insertEvent(event))
  return { kind: 'noticed' }
}

/** Endpoints whose services exist, in the order of `ids`. */
async function readEndpoints(sql: Sql, ids: readonly string[]): Promise<readonly NamedEndpoint[]> {
  const rows = await sql.rows<{ id: string; serviceId: string; serviceName: string; name: string | null }>(
    `SELECT n.endpoint_id AS id, s.id AS "serviceId", ${definitionJson('s.response')} ->> 'name' AS "serviceName",
       (SELECT e ->> 'name' FROM json_array_elements(${definitionJson('s.response')} -> 'endpoints') e
        WHERE e ->> 'id' = n.endpoint_id::text) AS name
     FROM numbered_endpoints n JOIN services s ON s.id = n.service_id WHERE n.endpoint_id = ANY($1::uuid[])`,
    [uuidsIn(ids)],
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => {
    const row = byId.get(id)
    if (row === undefined) return []
    return [{ id, name: row.name, service: { id: row.serviceId, name: row.serviceName } }]
  })
}
