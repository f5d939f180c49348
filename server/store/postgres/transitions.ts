import { randomUUID } from 'node:crypto'
import type { CertificateNotice } from '../../domain/certificateNotices.ts'
import { orderedUuid } from '../../domain/orderedUuid.ts'
import { markApplied } from '../monitoring/monitoringReads.ts'
import type { AppliedEffect, MonitoringStore, Transition } from '../monitoringStore.ts'
import { giveNotice } from '../notifications/giveNotice.ts'
import { incidentEffect } from '../shared/autoIncidents.ts'
import { orgNotFound } from '../shared/orgNotFound.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import { execute } from './connections/execute.ts'
import { rowOf, type Sql } from './connections/sql.ts'
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
  const mark = (sql: Sql) =>
    execute(sql, markApplied(first.resultsFile, first.after, last.transition.sequence))
  const orgId = await orgOf(parts.pools.read, transition)
  if (orgId === undefined) {
    await parts.pools.inTransaction(mark)
    return NOTHING
  }
  return parts.queues.withOrgLocked(orgId, orgNotFound(orgId), async (sql) => {
    await mark(sql)
    if (transition.kind !== 'certificate.expiring')
      return await changeIncidents(sql, parts, orgId, transition)
    const { nowMs } = parts
    const tools = { nowMs, uuid: () => orderedUuid(nowMs(), randomUUID()) }
    return await execute(sql, giveNotice(transition, tools))
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
  const effect = incidentEffect(draft.autoIncidents, transition)
  if (draft.isEmpty) return effect
  const { text, values } = guardedWrite(draft, randomUUID())
  const row = await rowOf<{ written: number }>(sql, text, values)
  if (row?.written !== 1) throw new Error('an organisation changed while it was locked')
  return effect
}
