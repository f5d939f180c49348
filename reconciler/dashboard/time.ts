import { type Html, html } from '../../web/html.ts'
import { relativeTime } from '../controller/status/labels.ts'

/** A time relative to `at` or absolute, with the other form in its title. Pure. */
export function timeElement(iso: string, at: string, form: 'relative' | 'absolute' = 'relative'): Html {
  const ago = relativeTime(iso, Date.parse(at))
  const clock = clockText(iso)
  return form === 'relative'
    ? html`<time datetime="${iso}" title="${clock}">${ago}</time>`
    : html`<time datetime="${iso}">${clock}</time>`
}

/** `2026-01-14 10:00:00 UTC`. Pure. */
function clockText(iso: string): string {
  const ms = Date.parse(iso)
  if (Number.isNaN(ms)) return iso
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
