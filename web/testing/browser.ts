import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Where Debian puts the browser without windows, which needs half the CPU of the other; `.ci/run` installs it. */
const HEADLESS = '/usr/bin/chromium-headless-shell'
const BROWSERS = [HEADLESS, '/usr/bin/chromium']

const found = BROWSERS.find((file) => existsSync(file))

/** Why browser tests cannot run here; null when they can. Under CI they never go unnoticed: they fail. */
export const skipReason =
  found !== undefined || process.env.CI === 'true' ? null : `no ${BROWSERS.join(' or ')}`

/** Starts the browser; it requests nothing from anywhere else. */
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
