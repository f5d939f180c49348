import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startServer } from '../../../server/testing/startServer.ts'
import { findingsInAppearances, PHONE } from '../../../web/testing/appearances.ts'
import { skipReason, startBrowser } from '../../../web/testing/browser.ts'
import { INJECTED_MARKUP } from '../../../web/testing/injectedMarkup.ts'
import { PAYLOADS } from '../../../web/testing/payloads.ts'
import { controllerScene, manifestFiles } from '../../testing/controllerScene.ts'
import { API_TOKEN, type TestController } from '../../testing/testController.ts'

let browser: Browser
const { controllerOf, names } = controllerScene(startServer)

/** As much markup as git lets a name have. */
const AUTHOR = `Eve" autofocus onfocus="alert(1)" x='{{alert(1)}}`

/** A controller whose set has a delete that waits for an approval. */
async function waitingController(): Promise<TestController> {
  const one = await controllerOf({
    more: '    brakes: {maxDeletes: {count: 0, percent: 0}}\n    prune: policy\n',
  })
  one.repository.commit(manifestFiles('a', 'b'))
  one.start()
  await one.nextCycle()
  one.repository.commit({ 'monitoring/b.yaml': null })
  await one.nextCycle()
  return one
}

async function opened(options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, complaints, close: () => context.close() }
}

async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/sets/shop`)
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByLabel('Your name').fill('Ada')
  await page.getByLabel('Token of the controller').fill(API_TOKEN)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Signed in as Ada').waitFor()
}

/** What is wrong with a page. Pages reload, and have a link that turns this off. */
const findings = (page: Page) =>
  findingsInAppearances(page, {
    targets: 'button, .button, input:not([type=hidden]), select',
    without: ['meta-refresh'],
  })

describe.skipIf(skipReason !== null)(
  `acting in a browser${skipReason === null ? '' : ` (${skipReason})`}`,
  () => {
    beforeAll(async () => {
      browser = await startBrowser()
    })
    afterAll(() => browser.close())

    test('a person signs in, suspends, resumes, approves and signs out without JavaScript', async () => {
      const one = await waitingController()
      const { page, complaints, close } = await opened({ javaScriptEnabled: false })
      await signIn(page, one.controller.url ?? '')
      expect(new URL(page.url()).pathname).toBe('/sets/shop')

      await page.getByRole('link', { name: 'Suspend…' }).click()
      await page.getByLabel('Reason').fill('release week')
      await page.getByLabel('For').selectOption('1 day')
      await page.getByRole('button', { name: 'Suspend' }).click()
      await page.getByRole('status').filter({ hasText: 'The set is suspended.' }).waitFor()
      // Screen readers read what has the focus.
      await page.locator('.outcome:focus').waitFor()
      expect(one.shop().suspensions).toMatchObject([{ reason: 'release week', actor: 'Ada' }])
      await page.getByRole('button', { name: 'Resume' }).click()
      await page.getByRole('status').filter({ hasText: 'The set is resumed.' }).waitFor()
      await page.getByRole('button', { name: 'Sync now' }).click()
      await page.getByRole('status').filter({ hasText: 'A run is requested' }).waitFor()

      await one.until(() => one.shop().running === null && one.shop().approvals.length === 1)
      await page.reload()
      await page.getByRole('button', { name: `Approve ${one.shop().approvals[0]?.digest}` }).click()
      await page.getByRole('status').filter({ hasText: 'Approved' }).waitFor()
      await one.until(() => one.shop().headline === 'Ready')
      expect(await names()).toEqual(['a'])

      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('link', { name: 'Sign in' }).waitFor()
      await page.goBack()
      expect(await page.getByText('Signed in as').count()).toBe(0)
      expect(complaints).toEqual([])
      await close()
    })

    test('text typed by people and authors of commits are escaped on every page', async () => {
      const one = await controllerOf()
      const text = PAYLOADS.join(' ').slice(0, 500)
      one.repository.commit(manifestFiles('a'), `${text}\n\nPharos-Approve: "><script>alert(1)</script>`)
      one.repository.git(
        'commit',
        '--quiet',
        '--amend',
        '--no-edit',
        '--author',
        `${AUTHOR} <eve@example.org>`,
      )
      one.start()
      await one.nextCycle()
      const { page, complaints, close } = await opened()
      const found: unknown[] = []
      const look = async () =>
        found.push([new URL(page.url()).pathname, await page.evaluate(INJECTED_MARKUP)])
      for (const token of ['"><script>alert(1)</script>', API_TOKEN]) {
        await page.goto(
          `${one.controller.url}/sign-in?set=${encodeURIComponent('"><script>alert(1)</script>')}`,
        )
        await look()
        await page.getByLabel('Your name').fill(text)
        await page.getByLabel('Token of the controller').fill(token)
        await page.getByRole('button', { name: 'Sign in' }).click()
        await page.getByText(token === API_TOKEN ? 'Signed in as' : 'This is not the token').waitFor()
        await look()
      }
      await page.goto(`${one.controller.url}/sets/shop/suspend`)
      await page.getByLabel('Reason').fill(text)
      await page.getByRole('button', { name: 'Suspend' }).click()
      await page.getByRole('status').waitFor()
      await look()
      const shown = await page.locator('main').textContent()
      await page.goto(`${one.controller.url}/`)
      await look()
      await close()

      expect(found).toEqual(found.map((each) => [(each as readonly unknown[])[0], []]))
      expect(shown).toContain(AUTHOR)
      expect(complaints.filter((each) => !each.startsWith('Failed to load resource'))).toEqual([])
    })

    test('a form from another port of this host is refused, although the browser sends the cookie', async () => {
      const one = await controllerOf()
      const forged = createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html')
        response.end(
          `<form method="post" action="${one.controller.url}/sets/shop/suspend"><input name="reason" value="x"><input name="for" value="1h"><button>Win a prize</button></form>`,
        )
      }).listen(0, '127.0.0.1')
      onTestFinished(() => {
        forged.close()
        forged.closeAllConnections()
      })
      await once(forged, 'listening')
      const { page, close } = await opened()
      await signIn(page, one.controller.url ?? '')
      // True because it listens on TCP.
      await page.goto(`http://127.0.0.1:${(forged.address() as AddressInfo).port}/`)
      const responded = page.waitForResponse(/suspend/)
      await page.getByRole('button').click()
      const response = await responded

      expect(response.status()).toBe(403)
      const sent = await response.request().allHeaders()
      expect([sent['sec-fetch-site'], sent.cookie?.startsWith('__Host-pharos-controller=')]).toEqual([
        'same-site',
        true,
      ])
      expect(one.shop().suspensions).toEqual([])
      await close()
    })

    test('axe-core finds no violation in any appearance, and the browser reports no error', async () => {
      const one = await waitingController()
      const { page, complaints, close } = await opened({ viewport: PHONE })
      await page.goto(`${one.controller.url}/sign-in?set=shop`)
      const found: unknown[] = [await findings(page)]
      await signIn(page, one.controller.url ?? '')
      for (const path of ['/', '/sets/shop', '/sets/shop/suspend']) {
        await page.goto(`${one.controller.url}${path}`)
        found.push(await findings(page))
      }
      await page.getByLabel('Reason').fill('release week')
      await page.getByRole('button', { name: 'Suspend' }).click()
      await page.getByRole('status').waitFor()
      found.push(await findings(page))
      await close()

      expect(found).toEqual(found.map(() => []))
      expect(complaints).toEqual([])
    })
  },
)
