import { type Asset, FAVICON, versionedName } from '../../http/pages/asset.ts'
import { ISLAND } from './island.ts'
import { STYLE } from './style.ts'

/** File names that change with the content, because browsers cache them for a year. */
export const STYLE_FILE = versionedName('style', 'css', STYLE)
export const ISLAND_FILE = versionedName('page', 'js', ISLAND)

/** The files below /assets/. */
export const ASSETS: ReadonlyMap<string, Asset> = new Map([
  [STYLE_FILE, { type: 'text/css; charset=utf-8', body: STYLE }],
  [ISLAND_FILE, { type: 'text/javascript; charset=utf-8', body: ISLAND }],
  ['favicon.svg', FAVICON],
])
