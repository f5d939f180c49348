import { type Html, html } from './html.ts'

/** Names with commas between them, each with its own writing direction. Pure. */
export function nameList(names: readonly string[]): Html {
  return html`${names.map((name, index) => html`${index > 0 && ', '}<bdi>${name}</bdi>`)}`
}
