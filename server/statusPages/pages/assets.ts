import { pageAssets } from '../../http/pages/assets.ts'
import { ISLAND } from './island.ts'
import { STYLE } from './style.ts'

/** The files of status pages. */
export const ASSETS = pageAssets(STYLE, ISLAND)
