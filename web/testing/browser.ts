import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Debian's path of the headless browser, which needs half the CPU of the other one. `.ci/run` installs it. */
const HEADLESS = '/usr/bin/chromium-headless-shell'
const BROWSERS = [HEADLESS, '/usr/bin/chromium']

const found = BROWSERS.find((file) => existsSync(file))

/** The reason why browser tests cannot run here; null when they can. Under CI they fail instead of being skipped. */
export const skipReason =
  found !== undefined || process.env.CI === 'true' ? null : `no ${BROWSERS.join(' or ')}`

/** Starts a browser that sends no requests of its own. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: found ?? HEADLESS,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
