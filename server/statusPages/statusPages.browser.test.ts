import type { Browser, BrowserContextOptions, Request, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findingsInAppearances, PHONE } from '../../web/testing/appearances.ts'
import { skipReason, startBrowser } from '../../web/testing/browser.ts'
import { PAYLOADS } from '../../web/testing/payloads.ts'
import { OPERATOR } from '../domain/accounts/actor.ts'
import { type SampleSite, startSampleSite } from './testing/sampleSite.ts'

/** What a page may take to be shown, with everything that it loads (bytes sent). */
const BYTES_MAX = 50_000
/** Payloads on one page: it shows at most twenty open incidents. */
const PAGE_PAYLOADS = 15

let site: SampleSite
let browser: Browser

/**
 * Opens `path`; `complaints` is everything that the browser objects to, `finished` the requests with a response so far.
 */
async function opened(path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ timezoneId: 'Europe/Berlin', ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  const finished: Request[] = []
  page.on('console', (message) => {
    // Of a picture or a document, the browser asks for an icon by itself.
    if (!message.location().url.endsWith('/favicon.ico')) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`))
  page.on('requestfailed', (request) => {
    // The icon loads after the page: a test that goes on to the next page cancels it.
    const isLeft =
      request.url().endsWith('/favicon.svg') && request.failure()?.errorText === 'net::ERR_ABORTED'
    if (!isLeft) complaints.push(`failed: ${request.url()}`)
  })
  page.on('requestfinished', (request) => void finished.push(request))
  page.on('request', (request) => {
    if (!request.url().startsWith(site.url)) complaints.push(`elsewhere: ${request.url()}`)
  })
  await page.goto(`${site.url}${path}`)
  if (options.javaScriptEnabled !== false && !path.includes('.')) {
    await page.getByText('Times are in your time zone').waitFor()
  }
  return { page, complaints, finished, close: () => context.close() }
}

/** Thirty components in three sections, incidents of all kinds, and a window. */
async function fill(): Promise<void> {
  const ids: string[] = []
  for (let index = 0; index < 30; index += 1) {
    const state = (['up', 'up', 'up', 'degraded', 'down', 'unknown'] as const)[index % 6] ?? 'up'
    const problems = { [index]: { down: 60 * index }, [index + 7]: { degraded: 600, unknown: 3_000 } }
    ids.push(await site.addService(`svc-${index}`, { state, problems, days: 90 - index }))
  }
  const [first = '', second = '', third = ''] = ids
  await site.pause(third)
  const components = ids.map((serviceId, index) => ({ serviceId, name: `Component ${index}` }))
  const sections = [0, 10, 20].map((from) => ({
    name: from === 0 ? '' : `Section ${from}`,
    components: components.slice(from, from + 10),
  }))
  const text = 'Live status of the shop.\nQuestions? https://example.org/help'
  await site.addPage({ slug: 'example', title: 'Example Shop', text, sections })
  for (let index = 0; index < 10; index += 1) {
    await site.addIncident({
      ...{ title: `Past incident ${index}`, serviceIds: [second], severity: 'partial_outage' },
      updates: [
        [1_500 * (index + 1), 'investigating', 'Some requests fail.'],
        [1_500 * (index + 1) - 40, 'resolved', 'A configuration was reverted.'],
      ],
    })
  }
  await site.addIncident({
    ...{ title: 'Cards are refused', serviceIds: [first, second], severity: 'major_outage' },
    updates: [
      [12, 'investigating', 'We are looking into it.'],
      [4, 'identified', 'Our provider has an outage.\nSee https://status.example.com/8.'],
    ],
  })
  const at = (hours: number) => new Date(site.clock.nowMs + hours * 3_600_000).toISOString()
  await site.store.createMaintenance(
    {
      ...{ id: crypto.randomUUID(), orgId: site.orgId, title: 'Database upgrade', serviceIds: [first] },
      ...{ startsAt: at(40), endsAt: at(41) },
    },
    OPERATOR,
    site.clock.nowMs,
  )
}

const PATHS = [
  '/s/example',
  '/s/example/history',
  '/s/example/incidents/INC-11',
  '/s/example/incidents/INC-1',
] as const

describe.skipIf(skipReason !== null)(
  `status pages in a browser${skipReason === null ? '' : ` (${skipReason})`}`,
  () => {
    beforeAll(async () => {
      site = await startSampleSite()
      await fill()
      browser = await startBrowser()
    })
    afterAll(async () => {
      await browser.close()
      await site.close()
    })

    test('axe-core finds no violation in any appearance, and the browser reports no error', async () => {
      const { page, complaints, close } = await opened(PATHS[0], { viewport: PHONE })
      const found: unknown[] = []
      for (const path of PATHS) {
        await page.goto(`${site.url}${path}`)
        found.push([path, await findingsInAppearances(page, { targets: 'summary, nav a, .group > p > a' })])
      }
      await close()

      expect(found).toEqual(PATHS.map((path) => [path, []]))
      expect(complaints).toEqual([])
    })

    test('on a phone, no word below a bar is broken', async () => {
      const { page, close } = await opened('/s/example', { viewport: { width: 320, height: 700 } })
      const heights = await page
        .locator('.scale > :last-child')
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height))
      await close()

      expect(new Set(heights).size).toBe(1)
      expect(Math.max(...heights)).toBeLessThan(30)
    })

    test('with forced colours, states keep their shapes and words, and bars their colours', async () => {
      const { page, complaints, close } = await opened('/s/example', { forcedColors: 'active' })
      const icon = page.locator('.components .icon').first()
      const colours = await page.evaluate(
        "new Set([...document.querySelectorAll('.bar path')].map((one) => getComputedStyle(one).fill)).size",
      )
      const border = await page.evaluate("getComputedStyle(document.querySelector('.banner')).borderTopStyle")

      expect(await page.evaluate("matchMedia('(forced-colors: active)').matches")).toBe(true)
      expect(border).toBe('solid')
      expect(await icon.isVisible()).toBe(true)
      expect(await page.locator('.components .label').first().innerText()).toBe('Down')
      expect(colours).toBeGreaterThan(2)
      expect(complaints).toEqual([])
      await close()
    })

    test('a theme in the URL overrides that of the device, and print is dark on light', async () => {
      const grounds: unknown[] = []
      const { page, close } = await opened('/s/example')
      for (const theme of ['light', 'dark']) {
        await page.emulateMedia({ media: 'screen', colorScheme: theme === 'light' ? 'dark' : 'light' })
        await page.goto(`${site.url}/s/example?theme=${theme}`)
        const ground = 'getComputedStyle(document.documentElement).backgroundColor'
        grounds.push(await page.evaluate(ground))
        // Printers leave out backgrounds, on which light letters would be needed.
        await page.emulateMedia({ media: 'print' })
        grounds.push(await page.evaluate(ground))
      }
      await close()

      expect(grounds).toEqual([
        'rgb(245, 246, 248)',
        'rgb(245, 246, 248)',
        'rgb(15, 20, 25)',
        'rgb(245, 246, 248)',
      ])
    })

    test('an open page that cannot be renewed says so, until it can', async () => {
      const { page, close } = await opened('/s/example')
      const look = () => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
      const said = page.getByRole('status').filter({ hasText: 'may be out of date' })
      for (const cut of [
        (route: Route) => route.fulfill({ status: 503, body: 'The status page cannot be shown at present' }),
        (route: Route) => route.abort(),
      ]) {
        await page.route('**/s/example', cut)
        await look()
        await said.waitFor()
        await page.unroute('**/s/example')
        await look()
        await said.waitFor({ state: 'detached' })
      }

      expect(await page.locator('h1').count()).toBe(1)
      await close()
    })

    test('a page of thirty components is small, including everything that it loads', async () => {
      const { page, finished, close } = await opened('/s/example')
      await page.waitForLoadState('networkidle')
      const sizes = await Promise.all(
        finished.map(async (request) => {
          const { responseBodySize, responseHeadersSize } = await request.sizes()
          return responseBodySize + responseHeadersSize
        }),
      )
      await close()

      expect(sizes.length).toBeGreaterThan(2)
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(BYTES_MAX / 3)
    })

    test('without JavaScript the page has the same content, except for the time zone', async () => {
      const texts: unknown[] = []
      for (const javaScriptEnabled of [true, false]) {
        const { page, complaints, close } = await opened('/s/example', {
          javaScriptEnabled,
          timezoneId: 'UTC',
        })
        const text = await page.locator('main').textContent()
        texts.push(text?.replaceAll(/, \d\d:\d\d UTC/g, '').replaceAll(/\s+/g, ' '))
        expect(complaints).toEqual([])
        await close()
      }

      expect(texts[1]).toBe(texts[0])
      for (const part of [
        ...['Major outage', 'Degraded', 'Unknown', 'Paused', 'Operational', 'Cards are refused', '% uptime'],
        ...['down 4 min', 'no results for 50 min', 'Database upgrade', 'Past incident 3'],
      ]) {
        expect(texts[1]).toContain(part)
      }
    })

    test('times are in the time zone of the reader, and the page says so', async () => {
      const { page, close } = await opened('/s/example/incidents/INC-11')

      expect(await page.locator('time').first().textContent()).toBe('22 Nov 2026, 05:48 CET')
      expect(await page.locator('#zone').textContent()).toContain('Europe/Berlin')
      await close()
    })

    test('an open page shows a change without a reload and keeps lists open, except while a reader uses it by keyboard', async () => {
      const { page, complaints, close } = await opened('/s/example')
      // The script asks again when the tab is looked at: no test waits for 30 seconds.
      const look = () => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
      const lists = page.locator('summary')
      await lists.first().press('Enter')
      const services = await site.store.listStatusPages(site.orgId)
      const serviceId = services[0]?.sections[0]?.components[0]?.serviceId ?? ''
      await site.addIncident({
        ...{ title: 'A new incident', serviceIds: [serviceId], severity: 'major_outage' },
        ...{ updates: [[1, 'investigating', 'Just found.']] },
      })
      site.renew()
      await look()
      expect(await page.getByRole('heading', { name: 'A new incident' }).count()).toBe(0)
      await page.evaluate('document.activeElement.blur()')
      await lists.nth(1).click()
      await lists.nth(1).click()
      await look()
      await page.getByRole('heading', { name: 'A new incident' }).waitFor()
      const areOpen = await page
        .locator('details')
        .evaluateAll((all) => all.map((one) => one.hasAttribute('open')))

      expect([areOpen.filter((isOpen) => isOpen).length, areOpen[0]]).toEqual([1, true])
      expect(await page.locator('.incident time').first().textContent()).toContain('CET')
      expect(complaints).toEqual([])
      await close()
    })

    test('a screen reader finds landmarks, one title, headings in order, and states in words', async () => {
      const { page, close } = await opened('/s/example')
      const tree = await page.locator('body').ariaSnapshot()
      for (const part of [
        ...['banner:', 'main:', 'contentinfo:', 'heading "Example Shop" [level=1]', 'region "Systems"'],
        ...['heading "Component 0" [level=3]', 'link "Skip to content"', 'region "Section 10"'],
      ]) {
        expect(tree).toContain(part)
      }
      const levels = await page
        .locator('h1, h2, h3, h4')
        .evaluateAll((all) => all.map((one) => Number(one.tagName.slice(1))))
      expect(levels.every((level, index) => level - (levels[index - 1] ?? 0) <= 1)).toBe(true)
      expect(levels.filter((level) => level === 1)).toEqual([1])
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      expect(new URL(page.url()).hash).toBe('#content')
      await close()
    })

    test('names, titles and updates with markup are escaped: no script of forty payloads runs', async () => {
      const slugs: string[] = []
      const shown = new Map<string, readonly string[]>()
      for (let from = 0; from < PAYLOADS.length; from += PAGE_PAYLOADS) {
        const payloads = PAYLOADS.slice(from, from + PAGE_PAYLOADS)
        const sections = await Promise.all(
          payloads.map(async (payload, index) => ({
            name: payload,
            components: [{ serviceId: await site.addService(`svc-${from}-${index}`), name: payload }],
          })),
        )
        const slug = `payloads-${from}`
        slugs.push(slug)
        shown.set(slug, payloads.toReversed())
        const title = PAYLOADS.join(' ')
        await site.addPage({ slug, title, text: PAYLOADS.join('\n'), sections })
        for (const [index, payload] of payloads.entries()) {
          const serviceIds = [sections[index]?.components[0]?.serviceId ?? '']
          await site.addIncident({
            ...{ title: payload, serviceIds, severity: 'partial_outage' },
            updates: [[1, 'investigating', payload]],
          })
        }
      }
      expect(PAYLOADS.length).toBeGreaterThanOrEqual(40)
      const { page, complaints, close } = await opened(`/s/${slugs[0]}`)
      for (const slug of slugs) {
        for (const path of ['/history', '/badge.svg', '/feed.atom', '/status.json', '']) {
          await page.goto(`${site.url}/s/${slug}${path}`)
          const foreign = 'main script, main img, main iframe, main [onerror], main form, main [autofocus]'
          expect([path, await page.locator(foreign).count()]).toEqual([path, 0])
        }
        const updates = await page.locator('.incident .updates .text').allTextContents()
        const names = await page.locator('.components h3').allTextContents()
        expect(updates).toEqual(shown.get(slug))
        expect(names.toReversed()).toEqual(shown.get(slug))
        expect(await page.title()).toContain(PAYLOADS.join(' '))
      }
      expect(complaints).toEqual([])
      await close()
    })
  },
)
