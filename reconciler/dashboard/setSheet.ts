import { type Html, html } from '../../web/html.ts'
import { CONDITION_TYPES, CONDITIONS, TONES } from '../controller/status/conditions.ts'
import { countText, SERVICE_STATES, STATE_LABELS } from '../controller/status/labels.ts'
import type { Condition, SetStatus } from '../controller/status/status.ts'
import { shortened } from '../text/counts.ts'
import { MESSAGE_CHARS_MAX } from './bounds.ts'
import { setButtons } from './buttons.ts'
import { conditionLabel, icon } from './icons.ts'
import { setFacts } from './setFacts.ts'
import { timeElement } from './time.ts'
import type { PageRequest } from './viewer.ts'
import { waitingFor } from './waiting.ts'

/** Inputs of a set's sheet. */
export interface SheetOptions extends PageRequest {
  /** Relative address of the page of the set. */
  readonly setPage: string
  /** The content below, about services. */
  readonly services: Html
}

/** One set: its conditions, the counts of its services, its facts, and pending decisions. Pure. */
export function setSheet(set: SetStatus, { status, apiUrl, viewer, setPage, services }: SheetOptions): Html {
  const id = `set-${set.name}`
  const isPerson = viewer.kind === 'person'
  return html`<section class="sheet" id="${id}" aria-labelledby="${id}-name">
<header><h2 id="${id}-name"><a href="${setPage}">${set.name}</a></h2>${conditionLabel(set.headline)}</header>
${isPerson && setButtons(set, setPage)}
<ul class="conditions">
${mostUrgentFirst(set.conditions).map((one) => condition(one, status.at))}</ul>
${stateBar(set)}
${set.role !== 'follower' && tally(set, setPage)}
${setFacts(set, status)}
${waitingFor(set, status, isPerson ? { setPage } : { apiUrl })}
${services}
</section>`
}

function mostUrgentFirst(conditions: readonly Condition[]): readonly Condition[] {
  return CONDITION_TYPES.flatMap((type) => conditions.filter((one) => one.type === type))
}

function condition({ type, message, todo, since }: Condition, at: string): Html {
  return html`<li class="condition c-${CONDITIONS[type].tone}">${conditionLabel(type)} <span class="quiet">since ${timeElement(since, at)}</span>
${message !== '' && html`<p>${shortened(message, MESSAGE_CHARS_MAX)}</p>`}
${todo !== null && html`<p class="todo">${shortened(todo, MESSAGE_CHARS_MAX)}</p>`}</li>\n`
}

/** The shares of the states as a bar; the tally below has the numbers. */
function stateBar({ counts }: SetStatus): Html | false {
  const total = totalOf(counts)
  if (total === 0) return false
  let from = 0
  const parts = TONES.toReversed().map((tone) => {
    const count = SERVICE_STATES.reduce(
      (sum, state) => sum + (STATE_LABELS[state].tone === tone ? counts[state] : 0),
      0,
    )
    // Even the smallest share is visible.
    const width = count === 0 ? 0 : Math.max(0.6, (100 * count) / total)
    const part =
      count > 0 &&
      html`<rect class="f-${tone}" x="${from.toFixed(2)}%" width="${width.toFixed(2)}%" height="100%"/>`
    from += width
    return part
  })
  return html`<svg class="bar" aria-hidden="true" focusable="false">${parts}</svg>`
}

function tally({ counts }: SetStatus, setPage: string): Html {
  const total = totalOf(counts)
  const held = SERVICE_STATES.filter((state) => counts[state] > 0)
  return html`<ul class="tally">
<li>${countText(total)} ${total === 1 ? 'service' : 'services'}</li>
${held.map((state) => html`<li><a href="${setPage}?state=${state}" title="${STATE_LABELS[state].meaning}">${icon(STATE_LABELS[state].tone)}<span>${countText(counts[state])} ${state.toLowerCase()}</span></a></li>`)}</ul>`
}

/** All services of a set. Pure. */
export function totalOf(counts: SetStatus['counts']): number {
  return SERVICE_STATES.reduce((sum, state) => sum + counts[state], 0)
}
