import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { SESSION_COOKIE } from '../routing/cookies.ts'
import type { TestPerson } from './startConsoleServer.ts'

/** A page in a browser. */
export interface ConsolePage {
  readonly page: Page
  /** Console messages, page errors, and requests to other origins. */
  readonly complaints: string[]
  readonly close: () => Promise<void>
}

/** A new page in a browser, signed in as `person`, or without a session for `undefined`. */
export async function openConsolePage(
  browser: Browser,
  { consoleUrl, person }: { readonly consoleUrl: string; readonly person: TestPerson | undefined },
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({ timezoneId: 'Europe/Berlin', ...options })
  const value = person?.client.cookie(SESSION_COOKIE)
  if (value !== undefined) {
    // Playwright accepts a secure cookie only for an https URL; the browser also sends it to http on loopback.
    const url = `https://${new URL(consoleUrl).hostname}`
    await context.addCookies([{ name: SESSION_COOKIE, value, url, secure: true, httpOnly: true }])
  }
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (!message.text().startsWith('Clear-Site-Data')) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(consoleUrl)) complaints.push(`elsewhere: ${request.url()}`)
  })
  return { page, complaints, close: () => context.close() }
}
