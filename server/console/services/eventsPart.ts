import type { ServiceResponse } from '../../../api/contract/service.ts'
import { type Html, html } from '../../../web/html.ts'
import { STATE_LABELS } from '../../../web/stateShapes.ts'
import { instant } from '../../../web/times.ts'
import { managerOf } from '../../domain/changeOrigin.ts'
import { timestamp } from '../../domain/environment.ts'
import type { TimelineSpan } from '../../results/measurements/measurements.ts'
import type { OrgRequest } from '../routing/route.ts'

/** Period of the events (seconds), and most events shown. */
const EVENTS_S = 7 * 24 * 3_600
const EVENTS_MAX = 30

/** The words for stored states. */
const WORDS: Readonly<Record<TimelineSpan['state'], string>> = {
  ...STATE_LABELS,
  up: STATE_LABELS.operational,
  ended: 'Not monitored',
}

interface Event {
  readonly at: string
  readonly text: Html
}

/** Recent changes of the state and the definition of a service. */
export async function eventsPart(
  { measurements, store, nowMs }: OrgRequest,
  { id }: ServiceResponse,
): Promise<Html> {
  const nowS = Math.floor(nowMs / 1_000)
  // Including the current second.
  const spans = (await measurements?.timeline(id, nowS - EVENTS_S, nowS + 1)) ?? []
  const states = spans
    .filter(({ endpointId, fromS }) => endpointId === null && fromS > nowS - EVENTS_S)
    .map(({ fromS, state }): Event => ({ at: timestamp(fromS * 1_000), text: html`State: ${WORDS[state]}` }))
  const generations = await store.generationsOf(id)
  const changes = generations.flatMap(({ generation, origin }, index): readonly Event[] =>
    // A generation with the origin of the previous one has the same definition.
    origin === null || origin.at === generations[index + 1]?.origin?.at
      ? []
      : [
          {
            at: origin.at,
            text: html`Definition ${generation}, by ${managerOf(origin)}${commitText(origin.commit)}`,
          },
        ],
  )
  const events = [...states, ...changes].toSorted((a, b) => (a.at < b.at ? 1 : -1)).slice(0, EVENTS_MAX)
  return html`<section class="group" aria-labelledby="events"><h2 id="events">Events</h2>
${events.length === 0 ? html`<p>Nothing in the last 7 days.</p>` : html`<ul class="events">${events.map(({ at, text }) => html`<li>${instant(at)} ${text}</li>`)}</ul>`}</section>`
}

function commitText(commit: string | null): Html | false {
  return commit !== null && html`, commit <code>${commit.slice(0, 12)}</code>`
}
