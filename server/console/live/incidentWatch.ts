import { type Environment, timestamp } from '../../domain/environment.ts'
import type { Store } from '../../store/store.ts'

/** Interval of the checks for changes (milliseconds). */
const CHECK_MS = 1_000

/** Dependencies of a watch. */
export interface WatchParts {
  readonly store: Pick<Store, 'changeCount' | 'openIncidents' | 'listMaintenance'>
  readonly environment: Pick<Environment, 'nowMs'>
  /** Default CHECK_MS. */
  readonly checkMs?: number
}

type Listener = (serviceIds: ReadonlySet<string>) => void

interface WatchedOrg {
  readonly listeners: Set<Listener>
  readonly timer: NodeJS.Timeout
}

/**
 * Tells open pages which services have other incidents or maintenance windows than before: these determine states, too,
 * but are no results. An organisation is read once for all of its pages, and only after a commit.
 */
export class IncidentWatch {
  readonly #parts: WatchParts
  readonly #orgs = new Map<string, WatchedOrg>()

  constructor(parts: WatchParts) {
    this.#parts = parts
  }

  /** Calls `listener` with the services of each change, from now on until the returned function is called. */
  onChange(orgId: string, listener: Listener): () => void {
    const watched = this.#orgs.get(orgId) ?? this.#start(orgId)
    watched.listeners.add(listener)
    return () => {
      watched.listeners.delete(listener)
      if (watched.listeners.size > 0 || this.#orgs.get(orgId) !== watched) return
      clearInterval(watched.timer)
      this.#orgs.delete(orgId)
    }
  }

  #start(orgId: string): WatchedOrg {
    const { store, environment, checkMs = CHECK_MS } = this.#parts
    const listeners = new Set<Listener>()
    let changeCount: number | undefined
    let before: ReadonlyMap<string, string> | undefined
    let isChecking = false
    const check = async (): Promise<void> => {
      const count = store.changeCount()
      if (count === changeCount) return
      const after = await marksOf(store, orgId, timestamp(environment.nowMs()))
      const changed = before === undefined ? new Set<string>() : changedBetween(before, after)
      before = after
      // Only now, so that a failed check is repeated.
      changeCount = count
      if (changed.size > 0) for (const listener of listeners) listener(changed)
    }
    const run = (): void => {
      if (isChecking) return
      isChecking = true
      check()
        .catch(() => {})
        .finally(() => {
          isChecking = false
        })
    }
    run()
    const watched = { listeners, timer: setInterval(run, checkMs) }
    this.#orgs.set(orgId, watched)
    return watched
  }
}

/** The incidents and windows of each service that has one, as a text. */
async function marksOf(
  store: WatchParts['store'],
  orgId: string,
  now: string,
): Promise<ReadonlyMap<string, string>> {
  const open = await store.openIncidents(orgId)
  const marks = new Map([...open].map(([id, incidents]) => [id, JSON.stringify(incidents)]))
  for (const { startsAt, endsAt, serviceIds } of await store.listMaintenance(orgId, { endsAfter: now })) {
    for (const id of serviceIds) marks.set(id, `${marks.get(id) ?? ''} ${startsAt} ${endsAt}`)
  }
  return marks
}

/** The keys whose values differ. Pure. */
function changedBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): ReadonlySet<string> {
  return new Set([...before.keys(), ...after.keys()].filter((key) => before.get(key) !== after.get(key)))
}
