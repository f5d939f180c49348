import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe-core finds wrong in a page, of all its rules but `without`, best practices included. */
export async function axeFindings(page: Page, without: readonly string[] = []): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]))
  // Details of what is right, of which there is much more, would only be thrown away.
  const options = JSON.stringify({ resultTypes: ['violations'], rules })
  const found = await page.evaluate(`axe.run(${options}).then(({ violations }) => violations)`)
  // True because axe gives an array of violations.
  return (found as { id: string; nodes: { html: string }[] }[]).map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  )
}
