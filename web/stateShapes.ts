import { type Html, html } from './html.ts'

/** The states of a service that people see, worst first. */
export const SHOWN_STATES = ['down', 'degraded', 'maintenance', 'unknown', 'operational', 'paused'] as const
export type ShownState = (typeof SHOWN_STATES)[number]

/** The names of the states. */
export const STATE_LABELS: Readonly<Record<ShownState, string>> = {
  down: 'Down',
  degraded: 'Degraded',
  maintenance: 'Maintenance',
  unknown: 'Unknown',
  operational: 'Operational',
  paused: 'Paused',
}

/**
 * A shape for each state, included once in a page; `icon` refers to them. States can be told apart without colour or
 * shape.
 */
export const SHAPES = html`<svg class="shapes" aria-hidden="true" focusable="false">
<symbol id="i-operational" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7.4"/><path class="mark" d="M4.7 8.3 7 10.6l4.4-5"/></symbol>
<symbol id="i-degraded" viewBox="0 0 16 16"><path d="M8 .9 15.7 15H.3z"/><path class="mark" d="M8 6.2v3.6M8 12.2v.3"/></symbol>
<symbol id="i-down" viewBox="0 0 16 16"><path d="M5 .7h6L15.3 5v6L11 15.3H5L.7 11V5z"/><path class="mark" d="m5.5 5.5 5 5M10.5 5.5l-5 5"/></symbol>
<symbol id="i-paused" viewBox="0 0 16 16"><rect x="2.5" y="2" width="4" height="12" rx="1"/><rect x="9.5" y="2" width="4" height="12" rx="1"/></symbol>
<symbol id="i-unknown" viewBox="0 0 16 16"><circle class="ring" cx="8" cy="8" r="6.4"/></symbol>
<symbol id="i-maintenance" viewBox="0 0 16 16"><rect x=".8" y=".8" width="14.4" height="14.4" rx="3"/><path class="mark" d="M4.5 8h7M8 4.5v7"/></symbol>
</svg>`

/** The shape of `state`, hidden from screen readers because the word beside it says the same. Pure. */
export function icon(state: ShownState): Html {
  return html`<svg class="icon" aria-hidden="true" focusable="false"><use href="#i-${state}"/></svg>`
}

/** The word for `state` with its shape and colour. Pure. */
export function stateLabel(state: ShownState): Html {
  return html`<span class="label s-${state}">${icon(state)}${STATE_LABELS[state]}</span>`
}
