import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { skipReason, startBrowser } from '../../web/testing/browser.ts'
import { INJECTED_MARKUP, parsedPages } from '../../web/testing/injectedMarkup.ts'
import { PAYLOADS } from '../../web/testing/payloads.ts'
import { unusablePasswordHash } from '../domain/accounts/passwordHash.ts'
import { consoleRoutes } from './consoleRoutes.ts'
import type { ConsoleResponse } from './testing/consoleClient.ts'
import { type ConsolePage, openConsolePage } from './testing/consolePage.ts'
import { type HostileEstate, makeHostileEstate } from './testing/hostileEstate.ts'
import {
  type ConsoleServer,
  QUICK_HASH,
  startConsoleServer,
  type TestPerson,
} from './testing/startConsoleServer.ts'

/** Longest time for a hundred pages on a busy machine (milliseconds). */
const MS_MAX = 300_000

/** Forms of the page that take text. */
const FORMS = `[...document.querySelectorAll('main form[method=post]')].filter((form) => form.querySelector('input:not([type=hidden]):not([type=checkbox]):not([type=radio]), textarea'))`
/** Fills every field of a form with `text`, whatever it should be, and sends it. */
const sendForm = (index: number, text: string): string => `(() => {
  const form = ${FORMS}[${index}]
  for (const field of form.querySelectorAll('input:not([type=hidden]):not([type=checkbox]), textarea')) {
    if (field.localName === 'input') field.type = 'text'
    field.value = ${JSON.stringify(text)}
  }
  form.noValidate = true
  form.requestSubmit()
})()`

/** Of the browser about a refusal, and about a text in a field for numbers or dates. */
const NO_OBJECTION = /^Failed to load resource|^The specified value/

let server: ConsoleServer
let estate: HostileEstate
let browser: Browser

const opened = async (person: TestPerson | undefined): Promise<ConsolePage> => {
  const one = await openConsolePage(browser, { consoleUrl: server.consoleUrl, person })
  one.page.on('dialog', (dialog) => {
    // The browser asks before unsaved input is left.
    if (dialog.type() === 'beforeunload') return void dialog.accept()
    one.complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return one
}

/** The paths of a page: one for each id, if it is about something. */
function pathsOf(path: string): readonly string[] {
  const kinds = [...path.matchAll(/([\w-]+)\/:(?!org)\w+/g)].map(([, kind = '']) => kind)
  const own = path.replace(':org', server.orgId)
  const idsOf = (kind: string): readonly string[] => {
    const ids = estate.ids[kind]
    if (ids === undefined) throw new Error(`the estate has no ${kind}, for ${path}`)
    return ids
  }
  const [kind = '', ...inner] = kinds
  if (kinds.length === 0) return [own]
  const ids = inner.length === 0 ? idsOf(kind) : idsOf(kind).slice(0, 1)
  return ids.map((id) =>
    kinds.reduce((text, one, index) => text.replace(/:\w+/, index === 0 ? id : (idsOf(one)[0] ?? '')), own),
  )
}

/** Every page that a member sees, besides redirects, files and streams: a list of paths for each template. */
const pagePaths = (): readonly (readonly string[])[] => {
  const others = new Set(['/', '/o/:org', '/o/:org/live', '/o/:org/settings/audit.csv'])
  const shown = consoleRoutes.filter(
    ({ method, path, access }) => method === 'GET' && access !== 'anyone' && !others.has(path),
  )
  const query = new URLSearchParams({ q: PAYLOADS.join(' '), action: PAYLOADS.join(' '), target: '"><b>' })
  return [
    ...shown.map(({ path }) => pathsOf(path)),
    ...['services', 'incidents', 'settings/audit'].map((path) => [`/o/${server.orgId}/${path}?${query}`]),
    [`/o/${server.orgId}/services?look=wall`],
  ]
}

describe.skipIf(skipReason !== null)(
  `texts with markup in a browser${skipReason === null ? '' : ` (${skipReason})`}`,
  () => {
    beforeAll(async () => {
      server = await startConsoleServer({
        ...{ isMonitoring: true, allowedRanges: ['127.0.0.0/8'], webhookRanges: ['127.0.0.0/8'] },
      })
      estate = await makeHostileEstate(server)
      browser = await startBrowser()
      const { client, root } = estate.owner
      const isShown = async (): Promise<void> => {
        const { text } = await client.get(`${root}/services/${estate.failing}`)
        // Each endpoint fails with its payload, and the certificate is known.
        expect(text.match(/<dt>eu-west-1<\/dt>/g)).toHaveLength(PAYLOADS.length + 1)
        expect(text).toContain('id="certificates"')
        expect(text).toContain('(1 day)')
      }
      await vi.waitFor(isShown, { timeout: MS_MAX, interval: 500 })
    }, MS_MAX)
    afterAll(async () => {
      await browser.close()
      await server.close()
      estate.close()
    })

    test(
      'every page escapes forty payloads in every text',
      async () => {
        const { page, complaints, close } = await opened(estate.owner)
        const found: unknown[] = []
        const shown = pagePaths().flatMap(([first = '']) => first)
        for (const path of shown) {
          const response = await page.goto(`${server.consoleUrl}${path}`)
          found.push([path, response?.status(), await page.evaluate(INJECTED_MARKUP), complaints.splice(0)])
        }
        await close()
        // Pages of a template differ in their texts alone: those of the other ids are not shown.
        const others = pagePaths().flatMap(([, ...rest]) => rest)
        const responses: ConsoleResponse[] = []
        for (const path of others) responses.push(await estate.owner.client.get(path))
        const parsed = await parsedPages(
          browser,
          responses.map(({ text }) => text),
        )
        for (const [index, path] of others.entries())
          found.push([path, responses[index]?.status, parsed[index]?.injected, []])

        expect(others.length).toBeGreaterThan(shown.length)
        expect(found).toEqual([...shown, ...others].map((path) => [path, 200, [], []]))
      },
      MS_MAX,
    )

    test('lists show each of the payloads literally', async () => {
      const { client, root } = estate.owner
      const paths = [
        ...['/me', `${root}/services/${estate.failing}`, `${root}/incidents/${estate.ids.incidents?.[0]}`],
        ...['incidents', 'maintenance', 'channels', 'pages', 'settings/keys'].map(
          (path) => `${root}/${path}`,
        ),
        ...[`${root}/settings/members`, `${root}/settings/organisation`, `${root}/services`, `${root}/sync`],
      ]
      const texts = paths.map(async (path) => (await client.get(path)).text)
      const parsed = await parsedPages(browser, await Promise.all(texts))
      const missing = parsed.map(({ text }) => PAYLOADS.filter((payload) => !text.includes(payload)))

      expect(missing).toEqual(paths.map(() => []))
    })

    test(
      'form input is escaped where it is refused, accepted or kept for the password',
      async () => {
        const { actions, client, root } = estate.owner
        const other = await server.signIn('owner', { isElevated: false })
        await server.store.replacePasswordHash(other.id, 'none', unusablePasswordHash(QUICK_HASH))
        const invited = await client.post(`${actions}/invitations`, {
          email: 'x@example.org',
          role: 'viewer',
        })
        const link = new URL(/http:\/\/[^<]*\/invite\/[\w-]+/.exec(invited.text)?.[0] ?? '').pathname
        const ofOrg = ['settings/keys', 'settings/members', 'settings/organisation', 'incidents/new']
        const made = [`services/${estate.failing}`, `services/${estate.failing}/edit`, 'services/new']
        const first = ['incidents', 'maintenance', 'channels', 'pages'].map(
          (kind) => `${kind}/${estate.ids[kind]?.[0]}`,
        )
        const forms = ['maintenance/new', 'channels/new', 'pages/new', ...ofOrg, ...made, ...first]
        const visits = [
          ...[[undefined, '/login'] as const, [undefined, link] as const, [other, '/me'] as const],
          ...forms.map((path) => [other, `${root}/${path}`] as const),
        ]
        const found: unknown[] = []
        const guest = await opened(undefined)
        const member = await opened(other)
        for (const [person, path] of visits) {
          const { page, complaints } = person === undefined ? guest : member
          await page.goto(`${server.consoleUrl}${path}`)
          const count = Number(await page.evaluate(`${FORMS}.length`))
          for (let index = 0; index < count; index += 1) {
            if (index > 0) await page.goto(`${server.consoleUrl}${path}`)
            const submitted = page.waitForResponse((response) => response.request().method() === 'POST')
            const loaded = page.waitForEvent('load')
            await page.evaluate(sendForm(index, PAYLOADS.join(' ')))
            const status = (await submitted).status()
            await loaded
            const isExpected = [303, 403, 422].includes(status)
            const objections = complaints.splice(0).filter((one) => !NO_OBJECTION.test(one))
            found.push([path, index, isExpected, await page.evaluate(INJECTED_MARKUP), objections])
          }
        }
        await guest.close()
        await member.close()

        expect(found.length).toBeGreaterThan(visits.length)
        expect(found).toEqual(found.map((one) => [...(one as readonly unknown[]).slice(0, 2), true, [], []]))
      },
      MS_MAX,
    )
  },
)
