import type { Severity } from '../../api/contract/incidentTerms.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { visible } from '../../api/contract/visibleText.ts'
import { settingsOf } from './autoIncidentSettings.ts'
import { timestamp } from './environment.ts'
import { REGIONS } from './regions.ts'

/** Maximum length of an endpoint's name in a title or message, and of a reason (characters). */
const LABEL_CHARS_MAX = 120
const REASON_CHARS_MAX = 300

/** A round in which an endpoint was down. Body of the transition `service.round`. */
export interface FailingRound {
  readonly endpoint_id: string
  /** Number of the interval since the epoch. */
  readonly round: number
  readonly interval_s: number
  /** Identifies the set of endpoints that are down. */
  readonly mark: string
  readonly down_count: number
  readonly endpoint_count: number
  /** Codes of the regions from which any endpoint is down. */
  readonly regions: readonly string[]
  /** Whether every endpoint is down from every region with a known state. */
  readonly is_everywhere: boolean
  /** The first endpoints that are down, at most five. */
  readonly explained: readonly {
    readonly endpoint_id: string
    readonly regions: readonly string[]
    /** The reason, readable and without secrets. */
    readonly text: string
  }[]
}

/** All endpoints of a service are up. Body of the transitions `service.recovered` and `service.steady`. */
export interface Recovery {
  /** Seconds since the epoch. */
  readonly since_s: number
}

/** `Checkout: 3 of 5 endpoints down from Dublin, Tokyo`. Pure. */
export function failingTitle(service: ServiceResponse, round: FailingRound): string {
  return `${service.name}: ${subjectOf(service, round)} down from ${citiesOf(round.regions)}`
}

/** The endpoints that are down and the reasons, with a line for each of the first endpoints. Pure. */
export function failingText(service: ServiceResponse, round: FailingRound): string {
  const lines = round.explained.map(({ endpoint_id, regions, text }) => {
    return `- ${labelOf(service, endpoint_id)}: ${cut(visible(text), REASON_CHARS_MAX)} (${citiesOf(regions)})`
  })
  const others = round.down_count - round.explained.length
  const rest = others > 0 ? [`- and ${others} more`] : []
  const head = `Checks fail: ${subjectOf(service, round)} down from ${citiesOf(round.regions)}.`
  return [head, ...lines, ...rest].join('\n')
}

/** `Checks pass again since 2026-01-01 00:00:00 UTC.` Pure. */
export function passingText({ since_s }: Recovery): string {
  return `Checks pass again since ${instantText(since_s)}.`
}

/** The text for an uptime that has lasted long enough. Pure. */
export function steadyText({ since_s }: Recovery): string {
  return `Checks pass without a break since ${instantText(since_s)}.`
}

/**
 * The reason why the change of a service from `before` to `after` ends its automatic incident; `undefined` when it does
 * not. Pure.
 */
export function closingText(before: ServiceResponse, after: ServiceResponse | null): string | undefined {
  if (after === null) return 'The service was deleted and is no longer checked.'
  if (after.paused_at != null && before.paused_at == null) {
    return 'The service was paused and is no longer checked.'
  }
  const isSwitchedOff = settingsOf(before) !== null && settingsOf(after) === null
  return isSwitchedOff ? 'Automatic incidents were switched off for the service.' : undefined
}

/** The severity of a round: whether everything is down from everywhere, or only a part. Pure. */
export function severityOf({ is_everywhere }: FailingRound): Severity {
  return is_everywhere ? 'major_outage' : 'partial_outage'
}

function subjectOf(service: ServiceResponse, round: FailingRound): string {
  const [first] = round.explained
  return round.down_count === 1 && first !== undefined
    ? labelOf(service, first.endpoint_id)
    : `${round.down_count} of ${round.endpoint_count} endpoints`
}

/** The name of an endpoint, or else its URL without query and fragment, which may contain secrets. */
function labelOf({ endpoints }: ServiceResponse, endpointId: string): string {
  const endpoint = endpoints.find(({ id }) => id === endpointId)
  return endpoint === undefined ? 'an endpoint' : cut(endpointName(endpoint), LABEL_CHARS_MAX)
}

function endpointName({ name, url }: ServiceResponse['endpoints'][number]): string {
  return name == null || name.trim() === '' ? (url.split(/[?#]/, 1)[0] ?? url) : name
}

function citiesOf(codes: readonly string[]): string {
  return codes.map((code) => REGIONS.find((region) => region.code === code)?.city ?? code).join(', ')
}

function cut(text: string, charsMax: number): string {
  const characters = [...text]
  return characters.length <= charsMax ? text : `${characters.slice(0, charsMax - 1).join('')}…`
}

/** `2026-01-01 00:00:00 UTC`, from seconds since the epoch. */
function instantText(atS: number): string {
  const [day, time] = timestamp(atS * 1_000).split(/[T.]/)
  return `${day} ${time} UTC`
}
