import { BADGE_GROUNDS, badgeSvg } from '../../web/badge.ts'
import { CONDITIONS, conditionWord, type Tone } from '../controller/status/conditions.ts'
import type { SetStatus } from '../controller/status/status.ts'
import { shortened } from '../text/counts.ts'

/** Longest name of a set on a badge (characters). */
const NAME_CHARS_MAX = 40

const GROUNDS: Readonly<Record<Tone, string>> = {
  good: BADGE_GROUNDS.green,
  busy: BADGE_GROUNDS.blue,
  wait: BADGE_GROUNDS.violet,
  warn: BADGE_GROUNDS.amber,
  bad: BADGE_GROUNDS.red,
}

/** The badge of a set, or of an unknown name: an SVG without fonts and other files. Pure. */
export function badge(name: string, set: Pick<SetStatus, 'headline'> | undefined): string {
  return badgeSvg({
    label: shortened(name, NAME_CHARS_MAX),
    word: set === undefined ? 'no such set' : conditionWord(set.headline).toLowerCase(),
    ground: GROUNDS[set === undefined ? 'wait' : CONDITIONS[set.headline].tone],
  })
}
