import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findingsInAppearances, PHONE } from '../../../web/testing/appearances.ts'
import { skipReason, startBrowser } from '../../../web/testing/browser.ts'
import { PAYLOADS } from '../../../web/testing/payloads.ts'
import { apiClient } from '../../testing/apiClient.ts'
import { endpointBody, serviceBody } from '../../testing/serviceBodies.ts'
import { startTarget, type Target } from '../../testing/target.ts'
import { openConsolePage } from '../testing/consolePage.ts'
import { type ConsoleServer, startConsoleServer, type TestPerson } from '../testing/startConsoleServer.ts'

/** Maximum wait for what a real check shows (milliseconds). */
const CHECKED_MS = 60_000

/** A name that cannot be broken between words. */
const LONG_NAME = 'checkout'.repeat(25)

let server: ConsoleServer
let target: Target
let browser: Browser
let owner: TestPerson
let checkedId: string

const opened = (options: Parameters<typeof openConsolePage>[2] = {}) =>
  openConsolePage(browser, { consoleUrl: server.consoleUrl, person: owner }, options)

/** Pages about services, of one that is checked. */
const paths = () =>
  ['', '/new', `/${checkedId}`, `/${checkedId}/edit`, '?look=wall'].map(
    (path) => `${owner.root}/services${path}`,
  )

describe.skipIf(skipReason !== null)(
  `services in a browser${skipReason === null ? '' : ` (${skipReason})`}`,
  () => {
    beforeAll(async () => {
      target = await startTarget()
      server = await startConsoleServer({ isMonitoring: true, allowedRanges: ['127.0.0.0/8'] })
      await server.overrideLimits({ intervalSecsMin: 1 })
      owner = await server.signIn('owner')
      const api = apiClient(server.url, server.apiKey)
      const endpoints = [endpointBody({ url: target.url('/health') })]
      const checked = serviceBody({ name: 'Checked', interval_secs: 1, endpoints })
      checkedId = Object((await api.post('/v1/services', checked)).json).id
      const names = [...PAYLOADS.slice(0, 12), LONG_NAME]
      for (const name of names) await api.post('/v1/services', serviceBody({ name: name.slice(0, 200) }))
      browser = await startBrowser()
    })
    afterAll(async () => {
      await browser.close()
      await server.close()
      await target.close()
    })

    beforeEach(() => {
      target.status = 200
    })

    test('an open page shows a failure and the recovery without a reload', async () => {
      const { page, complaints, close } = await opened()
      await page.goto(`${server.consoleUrl}${owner.root}/services?q=Checked`)
      const row = page.locator('tbody tr')
      await row.getByText('Operational').waitFor({ timeout: CHECKED_MS })
      target.status = 503
      await row.getByText('Down', { exact: true }).waitFor({ timeout: CHECKED_MS })
      const reason = await row.locator('.reason').textContent()
      target.status = 200
      await row.getByText('Operational').waitFor({ timeout: CHECKED_MS })
      await row.getByRole('link').click()
      const events = await page.locator('.events').textContent()
      await close()

      expect(reason).toContain('status 503')
      expect(events).toMatch(/State: Operational.*State: Down.*State: Operational/s)
      expect(complaints).toEqual([])
    })

    test('a click into the list does not stop its updates', async () => {
      const { page, complaints, close } = await opened()
      await page.goto(`${server.consoleUrl}${owner.root}/services?q=Checked`)
      const row = page.locator('tbody tr')
      await row.getByText('Operational').waitFor({ timeout: CHECKED_MS })
      await row.getByText('1 × 1 s').click()
      target.status = 503
      await row.getByText('Down', { exact: true }).waitFor({ timeout: CHECKED_MS })
      target.status = 200
      await row.getByText('Operational').waitFor({ timeout: CHECKED_MS })
      await close()

      expect(complaints).toEqual([])
    })

    test('durations on an open page advance without a change', async () => {
      const orgId = await server.createOrg({ name: 'Quiet' })
      const own = apiClient(server.url, await server.createKey({ orgId }))
      const { json } = await own.post('/v1/services', serviceBody())
      await own.post(`/v1/services/${Object(json).id}/pause`)
      const person = await server.signIn('viewer', { orgId })
      const { page, complaints, close } = await openConsolePage(browser, { ...server, person })
      await page.clock.install()
      await page.addInitScript('EventSource = class extends EventTarget { close() {} }')
      await page.goto(`${server.consoleUrl}${person.root}/services`)
      await page.locator('tbody').getByText('for less than a minute').waitFor()
      const renewal = page.waitForResponse((response) => response.url().endsWith('/services'))
      await page.clock.fastForward(60_000)
      await page.clock.fastForward(1_000)
      const status = (await renewal).status()
      await close()

      expect(status).toBe(200)
      expect(complaints).toEqual([])
    })

    test('a page whose stream of changes is refused renews itself, and follows the stream again', async () => {
      const { page, close } = await opened()
      await page.clock.install()
      let isRefused = true
      await page.route('**/live', (route) => (isRefused ? route.fulfill({ status: 502 }) : route.continue()))
      await page.goto(`${server.consoleUrl}${owner.root}/services?look=wall`)
      await page.getByRole('heading', { name: 'attention' }).waitFor()
      await page.route('**/services?look=wall', (route) => route.fulfill({ status: 502 }))
      await page.clock.fastForward(20_000)
      const outdated = page.getByText('no longer updates itself')
      await outdated.waitFor()
      await page.unroute('**/services?look=wall')
      isRefused = false
      const stream = page.waitForResponse((response) => response.url().endsWith('/live') && response.ok())
      await page.clock.fastForward(20_000)
      await stream
      await page.clock.fastForward(1_000)
      await outdated.waitFor({ state: 'detached' })

      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
      await close()
    })

    test('a page says that it is out of date when its session has ended', async () => {
      const person = await server.signIn('viewer')
      const { page, close } = await openConsolePage(browser, { consoleUrl: server.consoleUrl, person })
      await page.goto(`${server.consoleUrl}${person.root}/services?q=Checked`)
      await page.locator('tbody tr').getByText('Operational').waitFor({ timeout: CHECKED_MS })
      const [session] = await server.store.sessionsOf(person.id, Date.now())
      await server.store.endSession(person.id, session?.idHash ?? Buffer.alloc(0))
      target.status = 503
      const notice = page.getByText('no longer updates itself')
      await notice.waitFor({ timeout: CHECKED_MS })
      target.status = 200

      expect(await notice.getAttribute('role')).toBe('status')
      await close()
    })

    test('axe-core finds no violation in any appearance, and the browser reports no error', async () => {
      const { page, complaints, close } = await opened({ viewport: PHONE })
      const found: unknown[] = []
      for (const path of paths()) {
        await page.goto(`${server.consoleUrl}${path}`)
        found.push([path, await findingsInAppearances(page, { whole: '.scroll:not(:has(.chart))' })])
      }
      await close()

      expect(found).toEqual(paths().map((path) => [path, []]))
      expect(complaints).toEqual([])
    })

    test('a service is created and paused by keyboard without JavaScript', async () => {
      const { page, complaints, close } = await opened({ javaScriptEnabled: false })
      await page.goto(`${server.consoleUrl}${owner.root}/services/new`)
      await page.getByLabel('Name').fill('By keyboard')
      await page.getByLabel('URL').fill('https://shop.example.org/')
      await page.getByLabel('URL').press('Enter')
      await page.getByRole('heading', { level: 1, name: 'By keyboard' }).waitFor()
      await page.getByRole('button', { name: 'Pause' }).press('Enter')
      await page.getByRole('status').getByText('Paused.').waitFor()
      const state = await page.locator('.label').first().textContent()
      await close()

      expect(state).toBe('Paused')
      expect(complaints).toEqual([])
    })
  },
)
