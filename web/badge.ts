import { html } from './html.ts'

/** Approximate width of a character in the font of a badge (pixels). `textLength` makes it exact. */
const CHARACTER_PX = 6.6
const PADDING_PX = 7

/** Background colours on which white text is easy to read. */
export const BADGE_GROUNDS = {
  green: '#1b6a3d',
  blue: '#1d5ca3',
  violet: '#574a8f',
  amber: '#855000',
  red: '#a1201a',
  grey: '#525c66',
} as const

/** A badge: two texts side by side. */
export interface Badge {
  readonly label: string
  readonly word: string
  readonly ground: string
  /** Colours of the label's background and text; white on dark grey when absent. */
  readonly labelColors?: { readonly ground: string; readonly text: string }
}

/** `badge` as an SVG that needs no web font or other file. Pure. */
export function badgeSvg({ label, word, ground, labelColors }: Badge): string {
  const { ground: labelGround, text: labelText } = labelColors ?? { ground: '#3c444d', text: '#fff' }
  const [leftPx, rightPx] = [widthOf(label), widthOf(word)]
  const width = leftPx + rightPx
  const part = (text: string, fill: string, fromPx: number, widthPx: number) =>
    html`<text fill="${fill}" x="${fromPx + widthPx / 2}" y="14" textLength="${widthPx - 2 * PADDING_PX}" lengthAdjust="spacingAndGlyphs">${text}</text>`
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${label}: ${word}">
<title>${label}: ${word}</title>
<clipPath id="r"><rect width="${width}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="${leftPx}" height="20" fill="${labelGround}"/><rect x="${leftPx}" width="${rightPx}" height="20" fill="${ground}"/></g>
<g text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${part(label, labelText, 0, leftPx)}${part(word, '#fff', leftPx, rightPx)}</g>
</svg>`.toString()
}

function widthOf(text: string): number {
  return Math.round([...text].length * CHARACTER_PX) + 2 * PADDING_PX
}
