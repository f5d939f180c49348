import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const require = createRequire(import.meta.url)

/** Minified, because each page compiles it anew. */
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

/** The violations that axe-core finds on a page, by all its rules, including best practices, except `without`. */
export async function axeFindings(page: Page, without: readonly string[] = []): Promise<readonly string[]> {
  await page.evaluate(AXE)
  const rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]))
  // Details of passed rules, of which there are many more, would only be dropped.
  const options = JSON.stringify({ resultTypes: ['violations'], rules })
  const found = await page.evaluate(`axe.run(${options}).then(({ violations }) => violations)`)
  // True because axe returns an array of violations.
  return (found as { id: string; nodes: { html: string }[] }[]).map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  )
}
