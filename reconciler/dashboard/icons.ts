import { type Html, html } from '../../web/html.ts'
import { CONDITIONS, type ConditionType, conditionWord, type Tone } from '../controller/status/conditions.ts'

/** The shapes of the tones, once in a page; `icon` refers to them. */
export const ICON_SHAPES = html`<svg class="shapes" aria-hidden="true" focusable="false">
<symbol id="i-good" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7"/><path class="mark" d="M4.6 8.4 7 10.8l4.6-5.2"/></symbol>
<symbol id="i-busy" viewBox="0 0 16 16"><circle class="ring" cx="8" cy="8" r="6"/><path class="ring" d="M8 4.6V8l2.4 1.6"/></symbol>
<symbol id="i-wait" viewBox="0 0 16 16"><rect x="1" y="1" width="14" height="14" rx="3"/><path class="mark" d="M6 5v6M10 5v6"/></symbol>
<symbol id="i-warn" viewBox="0 0 16 16"><path d="M8 .8 15.7 15H.3z"/><path class="mark" d="M8 6v4M8 12v.4"/></symbol>
<symbol id="i-bad" viewBox="0 0 16 16"><path d="M5 .8h6L15.2 5v6L11 15.2H5L.8 11V5z"/><path class="mark" d="m5.4 5.4 5.2 5.2M10.6 5.4l-5.2 5.2"/></symbol>
</svg>`

/** The shape of `tone`, hidden from screen readers because a word beside it has the same meaning. Pure. */
export function icon(tone: Tone): Html {
  return html`<svg class="icon t-${tone}" aria-hidden="true" focusable="false"><use href="#i-${tone}"/></svg>`
}

/** `word` with the shape and the colour of `tone`. Pure. */
export function label(tone: Tone, word: string): Html {
  return html`<span class="label t-${tone}">${icon(tone)}${word}</span>`
}

/** The name of a condition with its shape and colour. Pure. */
export function conditionLabel(type: ConditionType): Html {
  return label(CONDITIONS[type].tone, conditionWord(type))
}

/** The logo, for the header of pages and the favicon. */
export const LOGO = html`<svg xmlns="http://www.w3.org/2000/svg" class="sign" viewBox="0 0 32 32" aria-hidden="true" focusable="false"><path fill="#e0a526" d="M13 8 1 4v9l12-2zM19 8l12-4v9l-12-2z" opacity=".75"/><path fill="#3f6f9f" d="M13 5h6v6h-6zM12.4 13h7.2L22 30H10z"/><path fill="#3f6f9f" d="M11 11.5h10v1.8H11z"/><path fill="#e0a526" d="M14.4 6.4h3.2v3.4h-3.2z"/></svg>`
