import type { Severity } from '../../../api/contract/incidentTerms.ts'
import { SHOWN_STATES, type ShownState } from '../../../web/stateShapes.ts'
import type { State } from '../../domain/serviceState.ts'

/** Facts that determine the state of a component. */
export interface ComponentFacts {
  readonly isPaused: boolean
  readonly isInMaintenance: boolean
  /** Its measured state; `undefined` when unknown. */
  readonly measured: State | 'paused' | undefined
  /** Severities of its open incidents on the page. */
  readonly severities: readonly Severity[]
}

const MEASURED: Readonly<Record<State | 'paused', ShownState>> = {
  up: 'operational',
  degraded: 'degraded',
  down: 'down',
  unknown: 'unknown',
  // Resumed but not checked yet.
  paused: 'unknown',
}

/**
 * The state of a component: paused, else in maintenance, else its measured state. An open incident makes it at least
 * degraded, a major outage makes it down. Gap G51. Pure.
 */
export function componentState({
  isPaused,
  isInMaintenance,
  measured,
  severities,
}: ComponentFacts): ShownState {
  if (isPaused) return 'paused'
  if (isInMaintenance) return 'maintenance'
  const checked = measured === undefined ? 'unknown' : MEASURED[measured]
  if (severities.includes('major_outage')) return 'down'
  return severities.length > 0 && checked !== 'down' ? 'degraded' : checked
}

/** The overall state of a page, with a sentence. */
export interface Headline {
  readonly state: ShownState
  readonly text: string
}

/** The worst state of `states` that is not paused, as a sentence. Pure. */
export function headlineOf(states: readonly ShownState[]): Headline {
  const worst = SHOWN_STATES.find((state) => states.includes(state))
  if (worst === undefined) return { state: 'unknown', text: 'No systems are listed' }
  const total = states.filter((state) => state !== 'paused').length
  const count = states.filter((state) => state === worst).length
  return { state: worst, text: sentenceOf(worst, count, total) }
}

function sentenceOf(worst: ShownState, count: number, total: number): string {
  switch (worst) {
    case 'down':
      return count > total / 2 ? 'Major outage' : 'Some systems are down'
    case 'degraded':
      return count === total ? 'All systems are degraded' : 'Some systems are degraded'
    case 'maintenance':
      return 'Maintenance in progress'
    case 'unknown':
      return count === total ? 'Status unknown' : 'The status of some systems is unknown'
    case 'operational':
      return 'All systems operational'
    case 'paused':
      return 'Monitoring is paused'
  }
}
