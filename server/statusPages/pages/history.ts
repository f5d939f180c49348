import { type Html, html } from '../../../web/html.ts'
import { dayText, durationText } from '../../../web/times.ts'
import type { StateSeconds } from '../../results/history/daySeconds.ts'
import type { PublicDay, PublicHistory } from '../view/publicPage.ts'

/** Sizes of the bar of a component (SVG units): a day is CELL wide, followed by GAP. */
const CELL = 4
const GAP = 2
const HEIGHT = 34
/** Minimum share of a day's height for a problem, so that two minutes are visible. */
const SHARE_MIN = 0.2

/** Rectangles by class, combined into one path. */
type Shapes = Map<string, string>

/** The days of a component as a drawing; `problemList` has the same as text. Pure. */
export function historyBar({ days }: PublicHistory): Html {
  const shapes: Shapes = new Map()
  for (const [index, { seconds }] of days.entries()) addDay(shapes, index * (CELL + GAP), seconds)
  const width = days.length * (CELL + GAP) - GAP
  return html`<svg class="bar" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false">
${[...shapes].map(([name, path]) => html`<path class="d-${name}" d="${path}"/>`)}</svg>`
}

function addDay(shapes: Shapes, x: number, seconds: StateSeconds | null): void {
  const add = (name: string, from: number, height: number): void => {
    if (height <= 0) return
    const rect = `M${x} ${rounded(from)}h${CELL}v${rounded(height)}h-${CELL}z`
    shapes.set(name, `${shapes.get(name) ?? ''}${rect}`)
  }
  const known = seconds === null ? 0 : knownOf(seconds)
  if (seconds === null || known === 0) {
    add(seconds === null ? 'none' : unknownKind(seconds), 0, HEIGHT)
    return
  }
  const down = heightOf(seconds.down / known)
  const degraded = Math.min(heightOf(seconds.degraded / known), HEIGHT - down)
  add('operational', 0, HEIGHT - down - degraded)
  add('degraded', HEIGHT - down - degraded, degraded)
  add('down', HEIGHT - down, down)
}

function knownOf({ up, degraded, down }: StateSeconds): number {
  return up + degraded + down
}

function heightOf(share: number): number {
  return share === 0 ? 0 : HEIGHT * Math.max(SHARE_MIN, share)
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}

/** The main state of a day without known time. */
function unknownKind({ maintenance, paused, unknown }: StateSeconds): string {
  if (maintenance > 0 && maintenance >= paused && maintenance >= unknown) return 'maintenance'
  return paused > unknown ? 'paused' : 'unknown'
}

/** The days with problems or gaps, as an expandable text. Pure. */
export function problemList({ days }: PublicHistory, name: string): Html {
  const hasResults = days.some(({ seconds }) => seconds !== null && knownOf(seconds) > 0)
  const noted = sinceCreation(days)
    .filter((day) => textOf(day) !== '')
    .toReversed()
  const without = hasResults ? 'No problems' : 'No results'
  if (noted.length === 0) return html`<p class="quiet">${without} in the days shown.</p>`
  const bad = noted.filter(({ seconds }) => seconds !== null && seconds.down + seconds.degraded > 0).length
  const summary = bad > 0 ? `${counted(bad)} with problems` : `${without}, ${counted(noted.length)} with gaps`
  return html`<details><summary>${summary}<span class="unseen"> of ${name}</span></summary>
<ul class="days">${noted.map((day) => html`<li>${dayText(day.day)}: ${textOf(day)}</li>`)}</ul></details>`
}

/** `days` without the unknown time of the day on which the service was created: most of it was before the creation. */
function sinceCreation(days: readonly PublicDay[]): readonly PublicDay[] {
  const first = days.findIndex(({ seconds }) => seconds !== null)
  return days.map((day, index) => {
    const isCreation = index === first && index > 0
    return isCreation && day.seconds !== null ? { ...day, seconds: { ...day.seconds, unknown: 0 } } : day
  })
}

function counted(days: number): string {
  return `${days} ${days === 1 ? 'day' : 'days'}`
}

function textOf({ seconds }: PublicDay): string {
  if (seconds === null) return ''
  const kinds = ['down', 'degraded', 'maintenance', 'paused', 'unknown'] as const
  return kinds
    .filter((kind) => seconds[kind] >= (kind === 'unknown' ? UNKNOWN_S_MIN : 1))
    .map((kind) => `${KIND_LABELS[kind]} ${durationText(seconds[kind])}`)
    .join(', ')
}

/** Shorter gaps come from restarts (seconds). */
const UNKNOWN_S_MIN = 300
const KIND_LABELS = {
  down: 'down',
  degraded: 'degraded',
  maintenance: 'maintenance',
  paused: 'paused',
  unknown: 'no results for',
} as const
