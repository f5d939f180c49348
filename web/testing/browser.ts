import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Where Debian puts its browser; `.ci/run` installs it. */
const CHROMIUM = '/usr/bin/chromium'

const hasBrowser = existsSync(CHROMIUM)

/** Why browser tests cannot run here; null when they can. Under CI they never go unnoticed: they fail. */
export const skipReason = hasBrowser || process.env.CI === 'true' ? null : `no browser at ${CHROMIUM}`

/** Starts the browser; it requests nothing from anywhere else. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
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
