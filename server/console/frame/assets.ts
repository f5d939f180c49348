import { type Asset, FAVICON, versionedName } from '../../http/pages/asset.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'

/** File names that change with the content, because browsers cache them for a year. */
export const STYLE_FILE = versionedName('console', 'css', STYLE)
export const SCRIPT_FILE = versionedName('console', 'js', SCRIPT)

/** The files below /assets/. */
export const ASSETS: ReadonlyMap<string, Asset> = new Map([
  [STYLE_FILE, { type: 'text/css; charset=utf-8', body: STYLE }],
  [SCRIPT_FILE, { type: 'text/javascript; charset=utf-8', body: SCRIPT }],
  ['favicon.svg', FAVICON],
])
