import type { BoardMemory } from './boardMemory.ts'
import { STEP_MS_MAX } from './clockTrust.ts'
import type { StateRows } from './stateRows.ts'

/** The states of a board, in memory and in the database. */
interface States {
  readonly memory: BoardMemory
  readonly rows: StateRows
}

/**
 * Moves the beginnings of the states of an endpoint and its service to `nowS` if they are later. Later history is
 * removed, unless so much would be that the clock may be wrong now: then it is only ended, after its newest result at
 * `newestS`, and the upkeep removes it when the clock is trusted.
 */
export function setBackStates(
  { memory, rows }: States,
  number: number,
  { nowS, newestS }: { readonly nowS: number; readonly newestS: number },
): void {
  const isDoubted = newestS > nowS + STEP_MS_MAX / 1_000
  const endS = (sinceS: number) => Math.max(sinceS, newestS) + 1
  const endpoint = memory.endpoints.get(number)
  if (endpoint !== undefined && endpoint.sinceS > nowS) {
    const changed = { ...endpoint, sinceS: nowS }
    memory.set(memory.endpoints, number, changed)
    rows.putEndpoint(changed)
    if (!isDoubted) rows.removeSpansAfter(number, nowS)
    else
      rows.addSpan({
        ...{ endpoint: number, fromS: endS(endpoint.sinceS), state: 'unknown', regionsDown: '' },
      })
    const down = memory.seriesOf(number).filter(({ state }) => state.state === 'down')
    const regionsDown = down.map(({ region }) => region).join(',')
    rows.addSpan({ endpoint: number, fromS: nowS, state: changed.state, regionsDown })
  }
  const service = memory.services.get(endpoint?.serviceId ?? '')
  if (service !== undefined && service.sinceS > nowS) {
    const changed = { ...service, sinceS: nowS }
    memory.set(memory.services, service.id, changed)
    rows.putService(changed)
    if (!isDoubted) rows.removeSpansAfter(service.id, nowS)
    else rows.addServiceSpan(service.id, endS(service.sinceS), 'unknown')
    rows.addServiceSpan(service.id, nowS, changed.state)
  }
}
