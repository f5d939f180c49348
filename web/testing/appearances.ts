import type { Page } from 'playwright-core'
import { axeViolations, loadAxe } from './axeFindings.ts'

/** The viewport of a page that is loaded to be shown in every appearance: scripts adapt a page to a phone when it loads. */
export const PHONE = { width: 320, height: 700 }
const DESKTOP = { width: 1280, height: 720 }
/** The least height of what is clicked or tapped (CSS pixels). */
const TARGET_PIXELS_MIN = 24

const DAYLIGHT = { colorScheme: 'light', forcedColors: 'none' } as const

/** How people see a page, in an order with few changes of its size. Only style sheets distinguish these. */
const APPEARANCES = [
  ['on a phone', PHONE, DAYLIGHT],
  ['light', DESKTOP, DAYLIGHT],
  ['dark', DESKTOP, { ...DAYLIGHT, colorScheme: 'dark' }],
  ['with forced colours', DESKTOP, { ...DAYLIGHT, forcedColors: 'active' }],
] as const

/** What to look for besides the rules of axe-core. */
interface Expectations {
  /** Selector of elements that are clicked or tapped. */
  readonly targets?: string
  /** Selector of elements that could be scrolled sideways, but are wide enough. */
  readonly whole?: string
  /** Rules of axe-core that do not apply. */
  readonly without?: readonly string[]
}

/** An expression to evaluate on a page: the elements that are wider than what contains them, or too small to be hit. */
const misfits = ({ targets = 'none', whole = 'none' }: Expectations): string => `[
  ...[document.documentElement, ...document.querySelectorAll(${JSON.stringify(whole)})]
    .filter((one) => one.scrollWidth > one.clientWidth).map((one) => 'too wide: ' + one.outerHTML.slice(0, 200)),
  ...[...document.querySelectorAll(${JSON.stringify(targets)})]
    .filter((one) => one.getBoundingClientRect().height < ${TARGET_PIXELS_MIN}).map((one) => 'too small: ' + one.outerHTML),
]`

/**
 * What is wrong with a page, opened as on a `PHONE`, in each appearance: violations that axe-core finds, content that is
 * too wide, and targets that are too small. Afterwards the page is as on a phone again.
 */
export async function findingsInAppearances(
  page: Page,
  expectations: Expectations,
): Promise<readonly string[]> {
  await loadAxe(page)
  const look = `${axeViolations(expectations.without)}.then((found) => [...found, ...${misfits(expectations)}])`
  const found: string[] = []
  for (const [name, viewport, media] of APPEARANCES) {
    if (page.viewportSize()?.width !== viewport.width) await page.setViewportSize(viewport)
    await page.emulateMedia(media)
    // True because the expression is a list of texts.
    found.push(...((await page.evaluate(look)) as string[]).map((one) => `${name}: ${one}`))
  }
  await page.setViewportSize(PHONE)
  return found
}
