import type { Reason } from '../../plan/planValue.ts'
import type { Tone } from './conditions.ts'
import type { RunOutcome, ServiceState, Trigger } from './status.ts'

/** States of services from the most to the least urgent, with their meanings. */
export const STATE_LABELS: Readonly<Record<ServiceState, { readonly tone: Tone; readonly meaning: string }>> =
  {
    Failed: { tone: 'bad', meaning: 'the last change failed' },
    Blocked: { tone: 'bad', meaning: 'manual decision or correction required' },
    Drifted: { tone: 'warn', meaning: 'changed outside git' },
    Pending: { tone: 'wait', meaning: 'a change is still to be applied' },
    Removing: { tone: 'wait', meaning: 'paused, to be deleted later' },
    Suspended: { tone: 'wait', meaning: 'not changed until the suspension ends' },
    Synced: { tone: 'good', meaning: 'matches git' },
  }

// True because the record has exactly the states as keys.
export const SERVICE_STATES = Object.keys(STATE_LABELS) as readonly ServiceState[]

/** Outcomes of runs for users. */
export const OUTCOME_LABELS: Readonly<Record<RunOutcome, string>> = {
  converged: 'everything matches git',
  partial: 'some services do not match git',
  withheld: 'some changes are blocked',
  failed: 'failed',
  interrupted: 'interrupted',
  superseded: 'superseded by a newer commit',
}

/** Triggers of runs for users. */
export const TRIGGER_LABELS: Readonly<Record<Trigger, string>> = {
  start: 'at the start',
  interval: 'on schedule',
  webhook: 'after a push',
  api: 'on request',
  retry: 'retry',
  preempted: 'for a newer commit',
}

/** Reasons of differences for users. */
export const REASON_LABELS: Readonly<Record<Reason, string>> = {
  git: 'changed in git',
  secret: 'secret changed in git',
  drift: 'changed outside git',
  'first-apply': 'first apply',
  differs: 'differs',
}

const RELATIVE_TIME = new Intl.RelativeTimeFormat('en')
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** `3 minutes ago`, `in 20 seconds` or `now`, relative to `atMs` (milliseconds since the epoch). Pure. */
export function relativeTime(iso: string, atMs: number): string {
  const differenceMs = Date.parse(iso) - atMs
  if (Number.isNaN(differenceMs)) return iso
  const largest = UNITS.find(([, unitMs]) => Math.abs(differenceMs) >= unitMs)
  if (largest === undefined) return 'now'
  const [unit, unitMs] = largest
  return RELATIVE_TIME.format(Math.trunc(differenceMs / unitMs), unit)
}

/** `12,345`, independent of the locale. Pure. */
export function countText(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}
