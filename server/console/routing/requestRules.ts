/** The origins and hosts under which the console is reached. */
export interface ConsoleAddress {
  readonly origins: ReadonlySet<string>
  readonly hosts: ReadonlySet<string>
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']

/** The address of the console: `url`, or the loopback addresses with `port` when it is `undefined`. Pure. */
export function consoleAddress(url: string | undefined, port: number): ConsoleAddress {
  const urls = url === undefined ? LOOPBACK_NAMES.map((name) => `http://${name}:${port}`) : [url]
  const parsed = urls.map((one) => new URL(one))
  return {
    origins: new Set(parsed.map(({ origin }) => origin)),
    hosts: new Set(parsed.map(({ host }) => host)),
  }
}

/** Whether `origin` is safe for passwords: encrypted, or on this machine. Pure. */
export function isSafeOrigin(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'https:' || LOOPBACK_NAMES.includes(hostname) || /^127(\.\d+){3}$/.test(hostname)
}
