import { createHash } from 'node:crypto'
import { ISLAND } from './island.ts'
import { STYLE } from './style.ts'

/** A file that pages refer to. */
export interface Asset {
  readonly type: string
  readonly body: string
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

/** Names that change with the content: browsers keep the files for a year. */
export const STYLE_FILE = `style-${digest(STYLE)}.css`
export const ISLAND_FILE = `page-${digest(ISLAND)}.js`

const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2a6f97"/><path d="M5 17h6l3-8 5 15 3-7h5" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`

/** The files below /assets/. */
export const ASSETS: ReadonlyMap<string, Asset> = new Map([
  [STYLE_FILE, { type: 'text/css; charset=utf-8', body: STYLE }],
  [ISLAND_FILE, { type: 'text/javascript; charset=utf-8', body: ISLAND }],
  ['favicon.svg', { type: 'image/svg+xml; charset=utf-8', body: FAVICON }],
])
