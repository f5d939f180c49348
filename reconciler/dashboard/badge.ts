import type { SetStatus } from '../controller/status/status.ts'
import { CONDITION_WORDS, shortened, type Tone } from '../controller/status/words.ts'
import { html } from './html.ts'

/** Longest name of a set on a badge (characters). */
const NAME_CHARS_MAX = 40
/** Width of a character in the font of a badge (pixels), about: `textLength` makes it exact. */
const CHARACTER_PX = 6.6
const PADDING_PX = 7

/** Grounds on which white is read easily. */
const GROUNDS: Readonly<Record<Tone, string>> = {
  good: '#1b6a3d',
  busy: '#1d5ca3',
  wait: '#574a8f',
  warn: '#855000',
  bad: '#a1201a',
}

/** The badge of a set that is known, or of a name that is not: an SVG that needs no font and no other file. Pure. */
export function badge(name: string, set: Pick<SetStatus, 'headline'> | undefined): string {
  const { tone, word } = set === undefined ? UNKNOWN : CONDITION_WORDS[set.headline]
  const left = shortened(name, NAME_CHARS_MAX)
  const right = word.toLowerCase()
  const [leftPx, rightPx] = [widthOf(left), widthOf(right)]
  const width = leftPx + rightPx
  const part = (text: string, fromPx: number, widthPx: number) =>
    html`<text x="${fromPx + widthPx / 2}" y="14" textLength="${widthPx - 2 * PADDING_PX}" lengthAdjust="spacingAndGlyphs">${text}</text>`
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${left}: ${right}">
<title>${left}: ${right}</title>
<clipPath id="r"><rect width="${width}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="${leftPx}" height="20" fill="#3c444d"/><rect x="${leftPx}" width="${rightPx}" height="20" fill="${GROUNDS[tone]}"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${part(left, 0, leftPx)}${part(right, leftPx, rightPx)}</g>
</svg>`.toString()
}

const UNKNOWN = { tone: 'wait', word: 'no such set' } as const

function widthOf(text: string): number {
  return Math.round([...text].length * CHARACTER_PX) + 2 * PADDING_PX
}
