import { BADGE_GROUNDS, badgeSvg } from '../../../web/badge.ts'
import { type ShownState, STATE_LABELS } from '../../../web/stateShapes.ts'
import type { Theme } from '../pages/frame.ts'

/** Longest label of a badge (code points). */
const LABEL_CHARS_MAX = 40

const GROUNDS: Readonly<Record<ShownState, string>> = {
  operational: BADGE_GROUNDS.green,
  degraded: BADGE_GROUNDS.amber,
  down: BADGE_GROUNDS.red,
  maintenance: BADGE_GROUNDS.violet,
  paused: BADGE_GROUNDS.grey,
  unknown: BADGE_GROUNDS.grey,
}

const LABELS: Readonly<Record<Theme, { readonly ground: string; readonly text: string }>> = {
  auto: { ground: '#3c444d', text: '#fff' },
  light: { ground: '#e3e7ec', text: '#16202b' },
  dark: { ground: '#252e38', text: '#e6ebf0' },
}

/** A badge of a page or component; `state` is `undefined` for an unknown one. Pure. */
export function stateBadge(name: string, state: ShownState | undefined, theme: Theme): string {
  const characters = [...name]
  const isLong = characters.length > LABEL_CHARS_MAX
  return badgeSvg({
    label: isLong ? `${characters.slice(0, LABEL_CHARS_MAX - 1).join('')}…` : name,
    word: state === undefined ? 'not found' : STATE_LABELS[state].toLowerCase(),
    ground: state === undefined ? BADGE_GROUNDS.grey : GROUNDS[state],
    labelColors: LABELS[theme],
  })
}
