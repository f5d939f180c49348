import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findingsInAppearances, PHONE } from '../../web/testing/appearances.ts'
import { axeFindings } from '../../web/testing/axeFindings.ts'
import { skipReason, startBrowser } from '../../web/testing/browser.ts'
import { apiClient } from '../testing/apiClient.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { openConsolePage } from './testing/consolePage.ts'
import { type ConsoleServer, startConsoleServer, type TestPerson } from './testing/startConsoleServer.ts'

let server: ConsoleServer
let browser: Browser
let owner: TestPerson
let serviceId: string

/** A page of a browser that is signed in as `person`. */
const opened = (person: TestPerson | undefined, options: BrowserContextOptions = {}) =>
  openConsolePage(browser, { consoleUrl: server.consoleUrl, person }, options)

/** Pages, each as the person that sees most of it. */
const paths = () => [
  ...['/me', `${owner.root}/settings/keys`, `${owner.root}/settings/members`],
  ...[`${owner.root}/settings/organisation`, `${owner.root}/settings/audit`, `${owner.root}/sync`],
  ...[`${owner.root}/incidents`, `${owner.root}/incidents/new`, `${owner.root}/maintenance`],
  ...[`${owner.root}/maintenance/new`, `${owner.root}/channels`, `${owner.root}/pages`],
  ...[`${owner.root}/pages/new`, '/nowhere'],
]

describe.skipIf(skipReason !== null)(
  `the console in a browser${skipReason === null ? '' : ` (${skipReason})`}`,
  () => {
    beforeAll(async () => {
      server = await startConsoleServer()
      owner = await server.signIn('owner', { name: 'Ada Lovelace' })
      await server.createOrg({ name: 'Other' })
      await owner.client.post(`${owner.actions}/keys`, { note: 'Terraform in CI', scope: 'read_write' })
      await owner.client.post(`${owner.actions}/invitations`, { email: 'new@example.org', role: 'viewer' })
      const { json } = await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody())
      serviceId = String(Object(json).id)
      browser = await startBrowser()
    })
    afterAll(async () => {
      await browser.close()
      await server.close()
    })

    test('axe-core finds no violation in any appearance, and the browser reports no error', async () => {
      const { page, complaints, close } = await opened(owner, { viewport: PHONE })
      const targets = ':is(a, button, summary, select):not(.skip)'
      const found: unknown[] = []
      for (const path of paths()) {
        const response = await page.goto(`${server.consoleUrl}${path}`)
        found.push([path, await findingsInAppearances(page, { targets, whole: '.scroll' })])
        if (response?.status() === 404) complaints.pop()
      }
      await close()

      expect(found).toEqual(paths().map((path) => [path, []]))
      expect(complaints).toEqual([])
    })

    test('on paper a page has neither navigation nor filters nor buttons, and begins at the margin', async () => {
      const { page, close } = await opened(owner)
      await page.emulateMedia({ media: 'print' })
      await page.goto(`${server.consoleUrl}${owner.root}/settings/audit`)
      const controls = page.locator('nav, input, select, button, .button').filter({ visible: true })
      const box = await page.locator('main').boundingBox()
      const count = await controls.count()
      await close()

      expect([box?.x, count]).toEqual([0, 0])
    })

    test('a person signs in with the keyboard alone, and without JavaScript', async () => {
      for (const javaScriptEnabled of [true, false]) {
        const { page, complaints, close } = await opened(undefined, { javaScriptEnabled })
        const invited = await owner.client.post(`${owner.actions}/invitations`, {
          ...{ email: `keys-${javaScriptEnabled}@example.org`, role: 'viewer' },
        })
        await page.goto(/http:\/\/[^<]*\/invite\/[\w-]+/.exec(invited.text)?.[0] ?? '')
        if (javaScriptEnabled) expect(await axeFindings(page)).toEqual([])
        await page.getByLabel('Your name').focus()
        await page.keyboard.type('Kay')
        await page.keyboard.press('Tab')
        await page.keyboard.type('correct horse battery')
        await page.keyboard.press('Enter')
        await page.getByRole('status').waitFor()
        await page.getByRole('button', { name: 'Sign out' }).focus()
        await page.keyboard.press('Enter')
        await page.getByLabel('E-mail address').waitFor()
        if (javaScriptEnabled) expect(await axeFindings(page)).toEqual([])
        await page.getByLabel('E-mail address').focus()
        await page.keyboard.type(`keys-${javaScriptEnabled}@example.org`)
        await page.keyboard.press('Tab')
        await page.keyboard.type('correct horse battery')
        await page.keyboard.press('Enter')
        await page.getByRole('link', { name: 'Kay' }).waitFor()

        expect(complaints).toEqual([])
        await close()
      }
    })

    test('after signing out, the back button shows no page of the ended session', async () => {
      const person = await server.signIn('owner')
      const { page, close } = await opened(person)
      await page.goto(`${server.consoleUrl}${person.root}/settings/members`)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('E-mail address').waitFor()
      await page.goBack()
      await page.getByLabel('E-mail address').waitFor()

      expect(await page.getByRole('heading', { name: 'Sign in' }).count()).toBe(1)
      await close()
    })

    test('a form whose button is pressed twice is sent once', async () => {
      const { page, close } = await opened(owner)
      let count = 0
      await page.route('**/api/**', async (route) => {
        count += 1
        await route.fulfill({ status: 204 })
      })
      await page.goto(`${server.consoleUrl}${owner.root}/settings/organisation`)
      const button = page.getByRole('button', { name: 'Rename' })
      await button.click()
      await button.click()
      await page.goto(`${server.consoleUrl}/me`)
      await close()

      expect(count).toBe(1)
    })

    test('input survives the end of the session: after signing in again, a reload sends it', async () => {
      const person = await server.signIn('owner')
      const { page, close } = await opened(person)
      await page.goto(`${server.consoleUrl}${person.root}/settings/organisation`)
      await page.getByLabel('Name').fill('Acme renamed')
      const cookies = await page.context().cookies()
      await page.context().clearCookies()
      await page.getByRole('button', { name: 'Rename' }).click()
      await page.getByRole('heading', { name: 'Signed out' }).waitFor()
      const [tab] = await Promise.all([
        page.context().waitForEvent('page'),
        page.getByRole('link', { name: 'Sign in in a new tab' }).click(),
      ])
      await tab.getByLabel('E-mail address').waitFor()
      await page.context().addCookies(cookies.map(({ domain, ...one }) => ({ ...one, domain })))
      await page.reload()

      expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Acme renamed')
      expect(await page.getByRole('status').textContent()).toBe('Organisation renamed.')
      await close()
    })

    test('after a mistake the field with the problem has the focus, and the input is left only after a question', async () => {
      const { page, close } = await opened(owner)
      const questions: string[] = []
      page.on('dialog', (dialog) => {
        questions.push(dialog.type())
        void dialog.accept()
      })
      await page.goto(`${server.consoleUrl}${owner.root}/incidents/new`)
      await page.getByLabel('First update').fill('A long text')
      await page.getByLabel('Title').fill('  ')
      await page.getByRole('button', { name: 'Open incident' }).click()
      await page.getByText('Must not be empty').waitFor()
      const focused = await page.locator(':focus').getAttribute('id')
      await page.getByRole('link', { name: 'Services' }).click()
      await page.getByRole('heading', { level: 1, name: 'Services' }).waitFor()
      await close()

      expect([focused, questions]).toEqual(['f-title', ['beforeunload']])
    })

    test('a page with unsaved input is left only after a question', async () => {
      const { page, complaints, close } = await opened(owner)
      const questions: string[] = []
      page.on('dialog', (dialog) => {
        questions.push(dialog.type())
        void dialog.accept()
      })
      await page.goto(`${server.consoleUrl}${owner.root}/pages/new`)
      await page.getByRole('link', { name: 'Services' }).click()
      await page.goto(`${server.consoleUrl}${owner.root}/pages/new`)
      await page.getByLabel('Title').pressSequentially('Draft')
      await page.getByRole('button', { name: 'Add section' }).click()
      await page.getByText('Section', { exact: true }).waitFor()
      await page.getByLabel('Title').pressSequentially('Draft')
      await page.getByRole('link', { name: 'Services' }).click()
      await page.getByRole('heading', { level: 1, name: 'Services' }).waitFor()
      await close()

      expect(questions).toEqual(['beforeunload'])
      expect(complaints).toEqual([])
    })

    test('irreversible actions ask for confirmation, and times are in the time zone of the reader', async () => {
      const { page, complaints, close } = await opened(owner)
      await page.goto(`${server.consoleUrl}${owner.root}/settings/keys`)
      const questions: string[] = []
      page.on('dialog', (dialog) => {
        questions.push(dialog.message())
        void dialog.dismiss()
      })
      await page
        .getByRole('button', { name: /^Revoke/ })
        .first()
        .click()

      expect(questions).toEqual([expect.stringMatching(/^Revoke the key …/)])
      expect(new URL(page.url()).pathname).toBe(`${owner.root}/settings/keys`)
      expect(await page.locator('time').first().textContent()).toMatch(/ CES?T$/)
      expect(await page.locator('#zone').textContent()).toContain('Europe/Berlin')
      expect(complaints).toEqual([])
      await close()
    })

    test('fields for times are in the time zone of the reader, also when clocks go back', async () => {
      const id = crypto.randomUUID()
      // In Berlin, both 00:30 and 01:30 UTC are 02:30 on that day.
      const times = { startsAt: '2090-10-29T01:30:00.000Z', endsAt: '2090-10-29T05:00:00.000Z' }
      const window = { id, orgId: server.orgId, title: 'Kept', serviceIds: [serviceId], ...times }
      await server.store.createMaintenance(window, { kind: 'cli' }, Date.now())
      const { page, complaints, close } = await opened(owner)
      const [title, from, to] = ['Title', 'From (Europe/Berlin)', 'To (Europe/Berlin)'].map((label) =>
        page.getByLabel(label),
      )
      const save = () =>
        Promise.all([page.waitForURL(/maintenance$/), page.getByRole('button', { name: 'Save' }).click()])
      await page.goto(`${server.consoleUrl}${owner.root}/maintenance/new`)
      await title?.fill('New')
      await page.getByLabel('Services').selectOption(serviceId)
      await from?.fill('2090-10-29T01:30')
      await to?.fill('2090-10-29T03:30')
      await save()
      await page.goto(`${server.consoleUrl}${owner.root}/maintenance/${id}`)
      const shown = await from?.inputValue()
      await to?.fill('2090-10-29T07:00')
      await save()
      await close()
      const windows = await server.store.listMaintenance(server.orgId)
      const stored = (name: string) => windows.find((one) => one.title === name)

      expect(stored('New')).toMatchObject({
        startsAt: '2090-10-28T23:30:00.000Z',
        endsAt: '2090-10-29T02:30:00.000Z',
      })
      expect(shown).toBe('2090-10-29T02:30')
      expect(stored('Kept')).toMatchObject({ ...times, endsAt: '2090-10-29T06:00:00.000Z' })
      expect(complaints).toEqual([])
    })

    test.each([
      ['with JavaScript in a dialog', true],
      ['without JavaScript on a page', false],
    ])(
      'an irreversible action is done only after its question was confirmed: %s',
      async (_, javaScriptEnabled) => {
        const note = `Key ${javaScriptEnabled}`
        await owner.client.post(`${owner.actions}/keys`, { note, scope: 'read_only' })
        const revoked = async () =>
          (await server.store.listKeys(server.orgId)).find((key) => key.note === note)?.revokedAt !== null
        const { page, complaints, close } = await opened(owner, { javaScriptEnabled })
        const questions: string[] = []
        page.on('dialog', (dialog) => {
          questions.push(dialog.message())
          void dialog.accept()
        })
        await page.goto(`${server.consoleUrl}${owner.root}/settings/keys`)
        await page.getByRole('row', { name: note }).getByRole('button').click()
        if (!javaScriptEnabled) {
          questions.push((await page.getByText('Revoke the key').textContent()) ?? '')
          expect(await revoked()).toBe(false)
          await page.getByRole('button', { name: 'Continue' }).click()
        }
        await page.getByText('Key revoked.').waitFor()
        await close()

        expect(questions).toEqual([expect.stringMatching(/^Revoke the key …\w+\? Programs/)])
        expect(await revoked()).toBe(true)
        expect(complaints).toEqual([])
      },
    )

    test('no return path after sign-in leads to another site', async () => {
      const { page, complaints, close } = await opened(owner)
      const hosts: string[] = []
      const paths = [
        '//evil.example',
        '/\\evil.example',
        '/%2f%2fevil.example',
        '/%5cevil.example',
        '/..//evil.example',
      ]
      for (const path of [
        ...paths,
        '/\t/evil.example',
        'https://evil.example',
        'javascript:alert(1)',
        '/.//evil.example',
      ]) {
        await page.goto(`${server.consoleUrl}/login?next=${encodeURIComponent(path)}`)
        hosts.push(new URL(page.url()).origin)
      }
      await close()

      expect(new Set(hosts)).toEqual(new Set([server.consoleUrl]))
      // What stays in the console is a page that does not exist.
      expect(complaints.filter((one) => !one.includes('404'))).toEqual([])
    })

    test('a form on another port of the same host, and on another site, is refused although it carries the cookie', async () => {
      const person = await server.signIn('owner')
      const action = `${server.consoleUrl}/api/sessions/end`
      const evil: Server = createServer((_request, response) => {
        response.setHeader('content-type', 'text/html')
        response.end(
          `<form method="post" action="${action}"><button>Win a prize</button></form><iframe src="${server.consoleUrl}/login"></iframe>`,
        )
      })
      await new Promise<void>((resolve) => evil.listen(0, resolve))
      // True because it listens on TCP.
      const { port } = evil.address() as AddressInfo
      const { page, close } = await opened(person)
      const statuses: (number | undefined)[] = []
      for (const host of ['localhost', '127.0.0.1']) {
        await page.goto(`http://${host}:${port}/`)
        const frame = page.frames()[1]
        expect(await frame?.locator('input').count()).toBe(0)
        const response = page.waitForResponse(action)
        await page.getByRole('button').click()
        statuses.push((await response).status())
      }
      await close()
      await new Promise((resolve) => evil.close(resolve))

      expect(statuses).toEqual([403, 403])
      expect(await server.store.sessionsOf(person.id, Date.now())).toHaveLength(1)
    })
  },
)
