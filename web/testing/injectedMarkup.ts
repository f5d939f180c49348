import type { Browser } from 'playwright-core'

/**
 * An expression to evaluate on a page: the HTML of elements that our programs never write. Empty when texts with markup
 * were shown as text. Only messages about the last action have the focus. Outside of `main`, our programs write scripts
 * and links too, but none with a part of a payload.
 */
export const INJECTED_MARKUP = `[...document.querySelectorAll('*')].filter((one) =>
  [...one.attributes].some(({ name, value }) => /^on|^srcdoc$/.test(name) || name === 'autofocus' && !one.matches('p[role][tabindex="-1"]') || /^\\s*javascript:/i.test(value) && /^(href|src|action|formaction|data)$/.test(name)) ||
  /^(script|iframe|object|embed|base|link|style)$/i.test(one.localName) && /alert\\(1\\)|evil\\.example/.test(one.outerHTML) ||
  one.closest('main') && /^(script|iframe|img|object|embed|base|meta|link|style|video|math|body)$/i.test(one.localName)
).map((one) => one.outerHTML.slice(0, 200))`

/** A page that a browser has parsed. */
interface ParsedPage {
  /** The HTML of elements that our programs never write. */
  readonly injected: readonly string[]
  /** The text of `main`. */
  readonly text: string
}

/**
 * Pages as a browser parses them from `texts`, without showing them: for the pages of one template, which differ in
 * their texts alone, at a small part of the cost.
 */
export async function parsedPages(
  browser: Browser,
  texts: readonly string[],
): Promise<readonly ParsedPage[]> {
  const page = await browser.newPage()
  const parse = `${JSON.stringify(texts)}.map((text) => {
    const document = new DOMParser().parseFromString(text, 'text/html')
    return { injected: ${INJECTED_MARKUP}, text: document.querySelector('main').textContent }
  })`
  const parsed = await page.evaluate(parse)
  await page.close()
  // True because the expression makes such a list.
  return parsed as readonly ParsedPage[]
}
