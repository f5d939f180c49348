import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../../../api/contract/apiError.ts'
import { timestamp } from '../../domain/environment.ts'
import { recordAction } from '../scripts/auditScripts.ts'
import { assertOrg, assertOwnServices } from '../scripts/orgScripts.ts'
import {
  count,
  listOf,
  row,
  rows,
  run,
  type Script,
  type Scripts,
  type StoredList,
} from '../scripts/script.ts'
import type { AuditedAction } from '../shared/auditedAction.ts'
import { orgNotFound } from '../shared/orgNotFound.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import type { AdministrationStore, MaintenanceWindow } from '../store.ts'

/** The rows of windows, whose services the kinds of database store in different ways. */
export interface WindowRows {
  /** SQL for the services of a row of `incidents`, in their order. */
  readonly serviceIds: string
  /** Adds a window that is created at `now`. */
  readonly insert: (window: MaintenanceWindow, now: string) => Script<void>
  /** Replaces a window at `now`. */
  readonly update: (window: MaintenanceWindow, now: string) => Script<void>
}

/** Maximum number of windows of an organisation that have not ended: each list of services reads them. Gap G6. */
const OPEN_MAX = 200

const OF_ORG = "incidents WHERE org_id = $1 AND kind = 'maintenance'"

type Row = Omit<MaintenanceWindow, 'serviceIds'> & { readonly serviceIds: StoredList<string> }

/** Maintenance windows, in the table of the incidents (Contract: Rules, 4). */
export function maintenance({ read, withOrgLocked }: Scripts, { serviceIds, insert, update }: WindowRows) {
  const columns = `id, org_id AS "orgId", title, starts_at AS "startsAt", ends_at AS "endsAt", ${serviceIds} AS "serviceIds"`
  const found = function* ({ id, orgId }: WindowRef): Script<MaintenanceWindow> {
    const text = `SELECT ${columns} FROM ${OF_ORG} AND id = $2`
    const window = yield* row<Row>(text, [orgId, uuidOrNull(id)])
    if (window === undefined) throw windowNotFound(id)
    return windowOf(window)
  }
  return {
    createMaintenance: (window, by, nowMs) =>
      withOrgLocked(window.orgId, orgNotFound(window.orgId), function* () {
        const { orgId, title, startsAt, endsAt } = window
        const now = timestamp(nowMs)
        yield* assertOwnServices(orgId, window.serviceIds)
        if ((yield* count(`${OF_ORG} AND ends_at > $2`, [orgId, now])) >= OPEN_MAX) {
          const message = `an organisation has at most ${OPEN_MAX} maintenance windows that have not ended`
          throw new ApiError('invalid', message)
        }
        yield* insert(window, now)
        yield* note('create', window, { by, nowMs, detail: { title, starts_at: startsAt, ends_at: endsAt } })
      }),
    changeMaintenance: (window, by, nowMs, seen) =>
      withOrgLocked(window.orgId, windowNotFound(window.id), function* () {
        const { orgId, title, startsAt, endsAt } = window
        const now = timestamp(nowMs)
        assertChangeable(yield* found(window), now, seen)
        yield* assertOwnServices(orgId, window.serviceIds)
        yield* update(window, now)
        yield* note('update', window, { by, nowMs, detail: { title, starts_at: startsAt, ends_at: endsAt } })
      }),
    cancelMaintenance: (window, by, nowMs) =>
      withOrgLocked(window.orgId, windowNotFound(window.id), function* () {
        const { startsAt } = yield* found(window)
        if (startsAt <= timestamp(nowMs))
          throw new ApiError('invalid', 'the window has begun: end it instead')
        yield* run('DELETE FROM incidents WHERE id = $1', [window.id])
        yield* note('cancel', window, { by, nowMs, detail: {} })
      }),
    listMaintenance: (orgId, which = { endsAfter: '' }) =>
      read(function* () {
        yield* assertOrg(orgId)
        const windows =
          'endsAfter' in which
            ? yield* rows<Row>(`SELECT ${columns} FROM ${OF_ORG} AND ends_at > $2 ORDER BY starts_at, id`, [
                orgId,
                which.endsAfter,
              ])
            : yield* rows<Row>(
                `SELECT * FROM (SELECT ${columns} FROM ${OF_ORG} AND ends_at <= $2
                   ORDER BY ends_at DESC, id LIMIT $3) newest ORDER BY "startsAt", id`,
                [orgId, which.endedBy, which.countMax],
              )
        return windows.map(windowOf)
      }),
  } satisfies Partial<AdministrationStore>
}

type WindowRef = Pick<MaintenanceWindow, 'id' | 'orgId'>

function windowOf({ serviceIds, ...window }: Row): MaintenanceWindow {
  return { ...window, serviceIds: listOf(serviceIds) }
}

/** Throws `invalid` when `window` has ended at `now`, and `conflict` when it differs from `seen`. */
function assertChangeable(window: MaintenanceWindow, now: string, seen: MaintenanceWindow | undefined): void {
  if (window.endsAt <= now) throw new ApiError('invalid', 'the window has ended')
  if (seen !== undefined && !isDeepStrictEqual(content(window), content(seen))) {
    throw new ApiError('conflict', 'the window has changed since it was read')
  }
}

function content({ title, startsAt, endsAt, serviceIds }: MaintenanceWindow): readonly unknown[] {
  return [title, startsAt, endsAt, serviceIds.toSorted()]
}

function windowNotFound(id: string): ApiError {
  return new ApiError('not_found', `there is no maintenance window ${id}`)
}

/** Adds an action on a window to the audit log. */
function note(
  verb: 'create' | 'update' | 'cancel',
  { id, orgId }: WindowRef,
  how: Pick<AuditedAction, 'by' | 'nowMs' | 'detail'>,
): Script<void> {
  return recordAction({ ...how, orgId, action: `maintenance.${verb}`, targetId: id })
}
