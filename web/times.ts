import { type Html, html } from './html.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const MONTH_NAMES = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
]

/** An instant as `22 Nov 2026, 05:00 UTC`; the script shows it in the reader's time zone. Pure. */
export function instant(iso: string): Html {
  return html`<time datetime="${iso}">${dayText(iso)} ${iso.slice(0, 4)}, ${iso.slice(11, 16)} UTC</time>`
}

/** Like `instant`, but with seconds: `22 Nov 2026, 05:00:26 UTC`. Pure. */
export function exactInstant(iso: string): Html {
  return html`<time datetime="${iso}" class="exact">${dayText(iso)} ${iso.slice(0, 4)}, ${iso.slice(11, 19)} UTC</time>`
}

/** `22 Nov`, from a day or an instant in ISO 8601. Pure. */
export function dayText(iso: string): string {
  return `${Number(iso.slice(8, 10))} ${MONTHS[Number(iso.slice(5, 7)) - 1] ?? ''}`
}

/** `November 2026`, from a month as YYYY-MM. Pure. */
export function monthText(month: string): string {
  return `${MONTH_NAMES[Number(month.slice(5, 7)) - 1] ?? ''} ${month.slice(0, 4)}`
}

/** `12 min`, `1 h 5 min`, `2 d 3 h`: the two largest units, `less than a minute` below one. Pure. */
export function durationText(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  if (minutes < 1) return 'less than a minute'
  const parts = [
    [Math.floor(minutes / 1_440), 'd'],
    [Math.floor(minutes / 60) % 24, 'h'],
    [minutes % 60, 'min'],
  ] as const
  const first = parts.findIndex(([count]) => count > 0)
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}
