import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findingsInAppearances, PHONE } from '../../../../web/testing/appearances.ts'
import { skipReason, startBrowser } from '../../../../web/testing/browser.ts'
import { INJECTED_MARKUP } from '../../../../web/testing/injectedMarkup.ts'
import { PAYLOADS } from '../../../../web/testing/payloads.ts'
import { startServer, type TestServer } from '../../../testing/startServer.ts'
import { openApi } from '../openApi.ts'
import type { OpenApiDocument } from './document.ts'
import { referencePage } from './referencePage.ts'

let server: TestServer
let browser: Browser

/** A page that records every complaint of the browser, every dialog, and every request to another origin. */
async function opened(options: BrowserContextOptions): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (request.url() !== `${server.adminUrl}/docs`) complaints.push(`request: ${request.url()}`)
  })
  return { page, complaints }
}

/** `value` with each text in it changed by `change`, including keys and references on which nothing else depends. */
function changed(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return value.startsWith('#/') ? value : change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => changed(one, change))
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      if (['type', 'in', 'tags', '$ref'].includes(key)) return [key, one]
      if (key === 'properties' || key === 'paths') {
        return [
          key,
          Object.fromEntries(
            Object.entries(one).map(([name, each]) => [change(name), changed(each, change)]),
          ),
        ]
      }
      return [key, changed(one, change)]
    }),
  )
}

describe.skipIf(skipReason !== null)(
  `the reference of the API in a browser${skipReason === null ? '' : ` (${skipReason})`}`,
  () => {
    beforeAll(async () => {
      server = await startServer()
      browser = await startBrowser()
    })
    afterAll(async () => {
      await browser.close()
      await server.close()
    })

    test('axe-core finds no violation in any appearance, and the page requests nothing else', async () => {
      const { page, complaints } = await opened({ viewport: PHONE })
      await page.goto(`${server.adminUrl}/docs`)
      await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)

      const found = await findingsInAppearances(page, {})
      await page.context().close()

      expect([found, complaints]).toEqual([[], []])
    })

    test('the page works without JavaScript: every operation is shown, and its body can be expanded', async () => {
      const { page, complaints } = await opened({ javaScriptEnabled: false })
      await page.goto(`${server.adminUrl}/docs#createService`)
      const section = page.locator('#createService')

      await section.locator('summary').first().click()

      expect(await section.getByText('interval_secs', { exact: true }).isVisible()).toBe(true)
      expect(await section.locator('details[open] >> text=max_redirects_to_follow').count()).toBe(1)
      expect(complaints).toEqual([])
      await page.context().close()
    })

    test('texts of the document are escaped', async () => {
      let next = 0
      const hostile = changed(openApi(), (text) => {
        next += 1
        return `${text}${PAYLOADS[next % PAYLOADS.length]}`
      })
      const { page, complaints } = await opened({})

      // True because only texts differ. Without the headers that would stop a script.
      await page.setContent(referencePage(hostile as OpenApiDocument))
      const foreign = await page.evaluate(INJECTED_MARKUP)
      const shown = await page.locator('main').textContent()
      await page.context().close()

      expect(next).toBeGreaterThan(PAYLOADS.length)
      expect(PAYLOADS.filter((payload) => shown?.includes(payload) !== true)).toEqual([])
      expect([foreign, complaints]).toEqual([[], []])
    })
  },
)
