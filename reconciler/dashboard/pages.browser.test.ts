import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { skipReason, startBrowser } from '../../web/testing/browser.ts'
import { INJECTED_MARKUP, parsedPages } from '../../web/testing/injectedMarkup.ts'
import { PAYLOADS } from '../../web/testing/payloads.ts'
import { type HttpServer, startHttpServer } from '../controller/http/httpServer.ts'
import type { ControllerStatus } from '../controller/status/status.ts'
import { addDashboardRoutes } from './dashboardRoutes.ts'
import { busyStatus } from './testing/busyStatus.ts'
import { sampleService, sampleSet, sampleStatus } from './testing/sampleStatus.ts'
import { writtenStatus } from './testing/writtenStatus.ts'

let server: HttpServer
let browser: Browser
let shown: ControllerStatus = busyStatus()

/** Opens a page of the controller; `complaints` is everything that the browser objects to. */
async function opened(path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('requestfailed', (request) => {
    // The icon loads after the page: a test that goes on to the next page cancels it.
    const isLeft =
      request.url().endsWith('/favicon.svg') && request.failure()?.errorText === 'net::ERR_ABORTED'
    if (!isLeft) complaints.push(`failed: ${request.url()}`)
  })
  page.on('response', (response) => {
    if (response.status() !== 200) complaints.push(`${response.status()}: ${response.url()}`)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url)) complaints.push(`elsewhere: ${request.url()}`)
  })
  await page.goto(`${server.url}${path}`)
  return { page, complaints, close: () => context.close() }
}

/** Presses Tab until what has the focus fits; how often that took. */
async function tabsTo(page: Page, selector: string): Promise<number> {
  for (let tabs = 1; tabs <= 60; tabs += 1) {
    await page.keyboard.press('Tab')
    if ((await page.locator(`${selector}:focus`).count()) > 0) return tabs
  }
  throw new Error(`${selector} cannot be reached with the keyboard`)
}

/** Luminance contrast of text against what it stands on, as WCAG 2.2 defines it. */
async function contrastOf(page: Page, selector: string): Promise<number> {
  const script = `(() => {
    const element = document.querySelector(${JSON.stringify(selector)})
    const parsed = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number)
    let ground = element
    while (ground && (parsed(getComputedStyle(ground).backgroundColor)[3] ?? 1) === 0) ground = ground.parentElement
    const light = (color) => { const [r, g, b] = parsed(color).slice(0, 3).map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b }
    const pair = [light(getComputedStyle(element).color), light(getComputedStyle(ground ?? document.documentElement).backgroundColor)].sort((a, b) => b - a)
    return (pair[0] + 0.05) / (pair[1] + 0.05)
  })()`
  return Number(await page.evaluate(script))
}

describe.skipIf(skipReason !== null)(
  `the page in a browser${skipReason === null ? '' : ` (${skipReason})`}`,
  () => {
    beforeAll(async () => {
      server = await startHttpServer(
        { host: '127.0.0.1', port: 0 },
        (app) =>
          addDashboardRoutes(app, () => shown, {
            publicUrl: null,
            hasApi: true,
            viewerOf: () => ({ kind: 'guest' }),
          }),
        () => {},
      )
      browser = await startBrowser()
    })
    afterAll(async () => {
      await browser.close()
      await server.close()
    })

    test('the browser reports no errors, with and without JavaScript', async () => {
      for (const javaScriptEnabled of [true, false]) {
        const { page, complaints, close } = await opened('/', { javaScriptEnabled })
        for (const path of ['/', '/sets/shop', '/sets/shop?state=Synced&refresh=off']) {
          await page.goto(`${server.url}${path}`)
          await page.getByRole('heading', { level: 2, name: 'shop' }).waitFor()
          expect([path, complaints]).toEqual([path, []])
        }
        await close()
      }
    })

    test('no script of forty payloads runs, in any text of manifests, commits, services and people', async () => {
      const withAll = writtenStatus(PAYLOADS.join(' '), 'all')
      const withOne = PAYLOADS.map((payload, index) => writtenStatus(payload, `shop-${index}`))
      shown = sampleStatus([withAll, ...withOne].flatMap(({ sets }) => sets.slice(0, 1)))
      const paths = withOne.map((_, index) => `/sets/shop-${index}`)
      const texts = paths.map(async (path) => (await fetch(`${server.url}${path}`)).text())
      const parsed = await parsedPages(browser, await Promise.all(texts))
      const { page, complaints, close } = await opened('/')
      const injected = [await page.evaluate(INJECTED_MARKUP)]
      await page.goto(`${server.url}/sets/all`)
      injected.push(await page.evaluate(INJECTED_MARKUP))
      await close()
      shown = busyStatus()

      expect(parsed.map((one, index) => [one.injected, one.text.includes(PAYLOADS[index] ?? '-')])).toEqual(
        PAYLOADS.map(() => [[], true]),
      )
      expect([injected, complaints]).toEqual([[[], []], []])
    })

    test('a screen reader finds landmarks, headings in order, tables with headers, and states in words', async () => {
      const { page, close } = await opened('/')
      const tree = await page.locator('body').ariaSnapshot()

      for (const part of [
        'banner:',
        'main:',
        'contentinfo:',
        'heading "1 of 3 sets needs attention" [level=1]',
        'heading "Sets" [level=2]',
        'region "shop":',
        'heading "Waiting for an approval" [level=3]',
        'heading "Services that do not match git" [level=3]',
        'table "3 sets, the most urgent first"',
        'columnheader "Condition"',
        'rowheader "shop"',
        'cell "Approval required"',
        'table "1 problem; the services of these manifests are left alone"',
        'link "Skip to the content"',
      ]) {
        expect(tree).toContain(part)
      }
      const levels = await page
        .locator('h1, h2, h3')
        .evaluateAll((all) => all.map((one) => Number(one.tagName.slice(1))))
      expect(levels.every((level, index) => level - (levels[index - 1] ?? 0) <= 1)).toBe(true)
      expect(await page.locator('html').getAttribute('lang')).toBe('en')
      const names = await page
        .locator('a')
        .evaluateAll((all) => all.map((one) => one.textContent?.trim() ?? ''))
      expect(names.filter((name) => name === '')).toEqual([])
      await close()
    })

    test('on a narrow screen tables remain tables for a screen reader', async () => {
      const { page, close } = await opened('/', { viewport: { width: 360, height: 800 } })
      // What the browser itself hands to a screen reader.
      const session = await page.context().newCDPSession(page)
      const { nodes } = await session.send('Accessibility.getFullAXTree')
      const parts = nodes.map(({ role, name }) => `${role?.value} ${name?.value}`)
      for (const part of ['table 3 sets, the most urgent first', 'columnheader Condition', 'rowheader shop'])
        expect(parts).toContain(part)
      await close()
    })

    test('with the keyboard one can skip to the content and expand the differences', async () => {
      const { page, close } = await opened('/sets/shop?state=Drifted', { javaScriptEnabled: false })
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.waitForURL('**#content')

      const table = page.getByRole('table', { name: 'Fields of checkout' })
      expect(await table.isVisible()).toBe(false)
      await tabsTo(page, '.services summary')
      await page.keyboard.press('Enter')
      expect(await table.isVisible()).toBe(true)
      expect(await table.getByRole('row', { name: 'interval' }).getByRole('cell').allInnerTexts()).toEqual([
        '5m',
        '30s',
        'changed outside git',
      ])
      await close()
    })

    test('light and dark themes differ, and both have enough contrast', async () => {
      const grounds: string[] = []
      const { page, close } = await opened('/')
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        grounds.push(
          String(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')),
        )
        for (const selector of [
          'h1',
          '.quiet',
          '.sheet p',
          'td',
          'caption',
          'td a, th a',
          '.c-warn .label',
          '.c-bad .label',
          '.c-wait .label',
          '.c-good .label',
          '.c-warn .quiet',
          '.c-bad .quiet',
          'pre code',
        ]) {
          expect([colorScheme, selector, (await contrastOf(page, selector)) >= 4.5]).toEqual([
            colorScheme,
            selector,
            true,
          ])
        }
      }
      await close()
      expect(grounds).toEqual(['rgb(245, 246, 248)', 'rgb(15, 20, 25)'])
    })

    test('nothing is cut off on a narrow screen or at twice the text size', async () => {
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      for (const path of ['/', '/sets/shop']) {
        const { page, close } = await opened(path, { viewport: { width: 320, height: 800 } })
        expect([path, await page.evaluate(overflow)]).toEqual([path, 0])

        await page.setViewportSize({ width: 1280, height: 800 })
        const session = await page.context().newCDPSession(page)
        const sizeOf = () =>
          page.evaluate('parseFloat(getComputedStyle(document.querySelector("main p")).fontSize)')
        const before = await sizeOf()
        await session.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
        expect([path, await sizeOf()]).toEqual([path, 2 * Number(before)])
        expect([path, await page.evaluate(overflow)]).toEqual([path, 0])
        await close()
      }
    })

    test('Scenario 54: ten thousand services give a page of a few hundred elements, without any secret', async () => {
      const sealed = {
        pointer: '/endpoints/0/call/Http/body',
        from: { sealed: 'CANARY' },
        to: { sealed: 'CANARY2' },
      }
      shown = sampleStatus([
        sampleSet('shop', {
          services: Array.from({ length: 10_000 }, (_, index) =>
            sampleService(
              `s-${index}`,
              index % 100 === 0 ? { state: 'Drifted', fields: [{ ...sealed, reason: 'drift' }] } : {},
            ),
          ),
        }),
      ])
      const { page, close } = await opened('/')
      for (const path of ['/', '/sets/shop']) {
        await page.goto(`${server.url}${path}`)
        expect(await page.locator('*').count()).toBeLessThan(4_000)
        expect(await page.content()).not.toContain('CANARY')
      }
      await close()
      shown = busyStatus()
    })

    test('a badge is an image with an accessible name', async () => {
      const { page, close } = await opened('/badge/shop.svg')
      expect(await page.locator('svg').getAttribute('aria-label')).toBe('shop: approval required')
      await close()
    })
  },
)
