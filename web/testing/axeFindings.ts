import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const require = createRequire(import.meta.url)

/** Minified, because each page compiles it anew. */
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

/** Loads axe-core into a page, also one that runs no scripts of its own. */
export async function loadAxe(page: Page): Promise<void> {
  // `page.evaluate` would make copies of half a megabyte.
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: AXE })
  await session.detach()
}

/**
 * An expression to evaluate on a page with axe-core: the violations, as texts, of all its rules, including best
 * practices, except `without`.
 */
export function axeViolations(without: readonly string[] = []): string {
  const rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]))
  // Details of passed rules, of which there are many more, would only be dropped.
  const options = JSON.stringify({ resultTypes: ['violations'], rules })
  return `axe.run(${options}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`
}

/** The violations that axe-core finds on a page as it is shown now. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  await loadAxe(page)
  // True because the expression is a list of texts.
  return (await page.evaluate(axeViolations())) as string[]
}
