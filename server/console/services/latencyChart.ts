import { type Html, html } from '../../../web/html.ts'
import { instant } from '../../../web/times.ts'
import { timestamp } from '../../domain/environment.ts'
import type { LatencyPoint, RegionLatency } from '../../results/measurements/measurements.ts'

/** Size of the drawing, and margins for labels (SVG units). */
const WIDTH = 800
const HEIGHT = 240
const LEFT = 56
const RIGHT = 8
const TOP = 10
const BOTTOM = 24
/** Grid lines. */
const STEPS = 4
/** Line styles. Lines differ by their dashes, not only by colour. */
const LINES = 6

/** Data of a chart. */
export interface LatencyChart {
  readonly lines: readonly RegionLatency[]
  readonly fromS: number
  readonly untilS: number
}

/** The 95th percentiles of latency by region, as a drawing with gaps for missing results and as a table. Pure. */
export function latencyChart({ lines, fromS, untilS }: LatencyChart): Html {
  const values = lines.flatMap(({ points }) => points.flatMap(({ p95Ms }) => (p95Ms === null ? [] : [p95Ms])))
  if (values.length === 0) return html`<p>No latency was measured in this period.</p>`
  const top = niceMax(Math.max(...values))
  const x = (atS: number): number =>
    rounded(LEFT + ((atS - fromS) / (untilS - fromS)) * (WIDTH - LEFT - RIGHT))
  const y = (ms: number): number => rounded(HEIGHT - BOTTOM - (ms / top) * (HEIGHT - TOP - BOTTOM))
  return html`<div class="scroll" tabindex="0"><svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Latency by region; the table below has the same values">
${Array.from({ length: STEPS + 1 }, (_, step) => {
  const ms = (top / STEPS) * step
  return html`<path class="grid" d="M${LEFT} ${y(ms)}H${WIDTH - RIGHT}"/><text x="${LEFT - 8}" y="${y(ms) + 4}" text-anchor="end">${msText(ms)}</text>`
})}
${[fromS, (fromS + untilS) / 2, untilS].map((atS, place) => html`<text x="${x(atS)}" y="${HEIGHT - 6}" text-anchor="${['start', 'middle', 'end'][place]}">${axisText(atS, untilS - fromS)}</text>`)}
${lines.map(({ points }, index) => html`<path class="line l-${index % LINES}" d="${pathOf(points, x, y)}"/>`)}</svg></div>
<ul class="keys">${lines.map(({ region }, index) => html`<li><svg viewBox="0 0 28 8" aria-hidden="true" focusable="false"><path class="line l-${index % LINES}" d="M0 4H28"/></svg>${region}</li>`)}</ul>
<details><summary>Latency as a table</summary><div class="scroll" tabindex="0"><table><thead><tr><th scope="col">From</th>${lines.map(({ region }) => html`<th scope="col" class="number">${region}</th>`)}</tr></thead>
<tbody>${tableRows(lines)}</tbody></table></div></details>`
}

/** One path, with gaps for missing values. */
function pathOf(
  points: readonly LatencyPoint[],
  x: (atS: number) => number,
  y: (ms: number) => number,
): string {
  let isDrawing = false
  let path = ''
  for (const { atS, p95Ms } of points) {
    if (p95Ms !== null) path += `${isDrawing ? 'L' : 'M'}${x(atS)} ${y(p95Ms)}${isDrawing ? '' : 'h.1'}`
    isDrawing = p95Ms !== null
  }
  return path
}

function tableRows(lines: readonly RegionLatency[]): readonly Html[] {
  const places = lines[0]?.points ?? []
  return places.map(
    ({ atS }, place) =>
      html`<tr><th scope="row">${instant(timestamp(atS * 1_000))}</th>${lines.map(({ points }) => {
        const ms = points[place]?.p95Ms
        return html`<td class="number">${ms == null ? '–' : msText(ms)}</td>`
      })}</tr>`,
  )
}

/** The smallest round number that is at least `value`. Pure. */
function niceMax(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return [1, 2, 4, 8, 10].map((factor) => factor * power).find((round) => round >= value) ?? value
}

function msText(ms: number): string {
  return ms >= 1_000 ? `${rounded(ms / 1_000)} s` : `${Math.round(ms)} ms`
}

/** The time of day for spans up to two days, else the day; UTC. */
function axisText(atS: number, spanS: number): string {
  const iso = timestamp(atS * 1_000)
  return spanS <= 2 * 86_400 ? `${iso.slice(11, 16)} UTC` : iso.slice(0, 10)
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
