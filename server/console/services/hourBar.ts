import { type Html, html } from '../../../web/html.ts'
import { memoised } from '../../../web/memoised.ts'

/** Sizes in the drawing (SVG units): an hour is CELL wide, followed by GAP. */
const CELL = 4
const GAP = 1
const HEIGHT = 16
/** Colour class, bar height and words of the letters of `ServiceNow.hours`. */
const HOURS: Readonly<Record<string, readonly [colour: string, height: number, words: string]>> = {
  d: ['down', HEIGHT, 'down'],
  g: ['degraded', HEIGHT * 0.75, 'degraded'],
  u: ['operational', HEIGHT * 0.5, 'operational'],
  n: ['unknown', HEIGHT * 0.25, 'unknown'],
  p: ['paused', HEIGHT * 0.25, 'paused'],
  '-': ['none', HEIGHT * 0.25, 'not monitored'],
}

/** The worst state of each of the last 24 hours, as a drawing and in words. Pure. */
export const hourBar = memoised((hours: string): Html => {
  const width = hours.length * (CELL + GAP) - GAP
  const bars = [...hours].map((letter, index) => {
    const hour = HOURS[letter]
    if (hour === undefined) return ''
    const [colour, height] = hour
    return html`<rect class="d-${colour}" x="${index * (CELL + GAP)}" y="${HEIGHT - height}" width="${CELL}" height="${height}"/>`
  })
  return html`<svg class="bar" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false">${bars}</svg><span class="unseen">${hoursText(hours)}</span>`
})

/** `down in 3, degraded in 1 of 24 hours`; hours before the creation of the service are left out. */
function hoursText(hours: string): string {
  const monitored = [...hours].filter((letter) => letter !== '-').length
  if (monitored === 0) return 'not monitored in 24 hours'
  const period = monitored === 1 ? '1 hour' : `${monitored} hours`
  const counted = ['d', 'g', 'n', 'p'].flatMap((letter) => {
    const count = [...hours].filter((one) => one === letter).length
    return count === 0 ? [] : [`${HOURS[letter]?.[2]} in ${count}`]
  })
  return counted.length === 0 ? `no problems in ${period}` : `${counted.join(', ')} of ${period}`
}
