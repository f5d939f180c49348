import type { ServiceResponse } from '../../api/contract/service.ts'

/** Maximum threshold of failing rounds that open an incident. More than a hundred would never occur together. */
const THRESHOLD_MAX = 100
/** Maximum window for the failing rounds (minutes): a day. */
const WINDOW_MINUTES_MAX = 1_440
/** Maximum uptime required before an incident is resolved, unless two intervals are longer (seconds). */
const STEADY_S_MAX = 10 * 60

/** The conditions for opening an incident automatically. Contract: Service, the fields `auto_incident_…`. */
export interface AutoIncidentSettings {
  /** Number of failing rounds of one endpoint. */
  readonly threshold: number
  /** Window for the failing rounds (minutes). */
  readonly windowMinutes: number
}

type Checked = Pick<ServiceResponse, 'interval_secs'>
type AutoIncidentFields = Pick<
  ServiceResponse,
  'auto_incident_failure_threshold' | 'auto_incident_window_minutes' | 'auto_incident_enabled'
>

/** The problem of `settings` that applies to any service; `undefined` when there is none. Pure. */
export function settingsProblem({ threshold, windowMinutes }: AutoIncidentSettings): string | undefined {
  if (!isWithin(threshold, THRESHOLD_MAX)) {
    return `the threshold must be a whole number from 1 to ${THRESHOLD_MAX}`
  }
  return isWithin(windowMinutes, WINDOW_MINUTES_MAX)
    ? undefined
    : `the window must be a whole number of minutes from 1 to ${WINDOW_MINUTES_MAX}`
}

/** The reason why `settings` could never open an incident for a service; `undefined` when they could. Pure. */
export function settingsRefusal(
  { threshold, windowMinutes }: AutoIncidentSettings,
  service: Checked,
): string | undefined {
  const intervalS = intervalOf(service)
  if (threshold * intervalS <= windowMinutes * 60) return undefined
  const rounds =
    threshold === 1 ? `1 round of ${intervalS} s does` : `${threshold} rounds of ${intervalS} s do`
  return `${rounds} not fit into a window of ${windowMinutes} min: choose a longer window or a lower threshold`
}

/** The fields of a service with `settings`; `null` switches automatic incidents off. Pure. */
export function fieldsOf(settings: AutoIncidentSettings | null): AutoIncidentFields {
  return {
    auto_incident_failure_threshold: settings?.threshold ?? null,
    auto_incident_window_minutes: settings?.windowMinutes ?? null,
    auto_incident_enabled: settings !== null,
  }
}

/** The settings of a service; `null` while automatic incidents are off. Pure. */
export function settingsOf(service: AutoIncidentFields): AutoIncidentSettings | null {
  const { auto_incident_failure_threshold: threshold, auto_incident_window_minutes: windowMinutes } = service
  return threshold == null || windowMinutes == null ? null : { threshold, windowMinutes }
}

/** The interval of rounds (seconds). 0 counts as one second, the real interval of the checks. Pure. */
export function intervalOf({ interval_secs }: Checked): number {
  return Math.max(1, interval_secs)
}

/**
 * The window for failing rounds (seconds). Longer than the configured window if the interval was increased later, so
 * that the threshold stays reachable. Pure.
 */
export function windowS({ threshold, windowMinutes }: AutoIncidentSettings, service: Checked): number {
  return Math.max(windowMinutes * 60, (threshold + 1) * intervalOf(service))
}

/**
 * `settings` with the window of a service whose interval is too long for the given one, as long as a window may be; for
 * settings of all services of an organisation. Pure. Gap G49.
 */
export function reachableSettings(settings: AutoIncidentSettings, service: Checked): AutoIncidentSettings {
  if (settingsRefusal(settings, service) === undefined) return settings
  return {
    ...settings,
    windowMinutes: Math.min(Math.ceil(windowS(settings, service) / 60), WINDOW_MINUTES_MAX),
  }
}

/** The uninterrupted uptime after which the incident of `service` is resolved (seconds). Pure. */
export function steadyS({ windowMinutes }: AutoIncidentSettings, service: Checked): number {
  return Math.max(2 * intervalOf(service), Math.min(windowMinutes * 60, STEADY_S_MAX))
}

function isWithin(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= max
}
