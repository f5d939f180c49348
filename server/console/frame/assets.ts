import { pageAssets } from '../../http/pages/assets.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'

/** The files of the console. */
export const ASSETS = pageAssets(STYLE, SCRIPT)
