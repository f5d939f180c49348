import type { AddressInfo } from 'node:net'
import { PASSWORD_COST, type PasswordCost } from '../domain/accounts/passwordHash.ts'
import { buildConsole, type ConsoleListenerParts } from './consoleListener.ts'
import { PasswordHasher } from './credentials/passwordHasher.ts'
import { PasswordThrottle } from './credentials/passwordThrottle.ts'
import { IncidentWatch } from './live/incidentWatch.ts'
import { LiveStreams } from './live/liveStreams.ts'
import { ServiceIndex } from './live/serviceIndex.ts'
import { consoleAddress, isSafeOrigin } from './routing/requestRules.ts'

/** Listening options of the console. */
export interface ConsoleListening {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Public origin; http://localhost with its port when absent. */
  readonly url?: string | undefined
  /** Number of trusted proxies in front of it; 0 when absent. */
  readonly proxies?: number
  /** Cost of password hashes; PASSWORD_COST when absent. */
  readonly passwordCost?: PasswordCost
}

type Parts = Omit<
  ConsoleListenerParts,
  'addressOf' | 'consoleUrlOf' | 'passwords' | 'throttle' | 'streams' | 'incidentWatch' | 'index' | 'proxies'
>

/** Starts the console. Rejects when passwords would be sent unencrypted, and when it cannot listen. */
export async function startConsole(parts: Parts, listening: ConsoleListening) {
  assertSafe(listening)
  const { url, host, passwordCost = PASSWORD_COST } = listening
  let { port } = listening
  const streams = new LiveStreams()
  const index = new ServiceIndex(parts)
  const consoleUrlOf = () => url ?? `http://localhost:${port}`
  const listener = buildConsole({
    ...parts,
    consoleUrlOf,
    addressOf: () => consoleAddress(url, port),
    passwords: new PasswordHasher(parts.environment.randomBytes, passwordCost),
    throttle: new PasswordThrottle(parts.monotonicMs),
    streams,
    incidentWatch: new IncidentWatch(parts),
    index,
    proxies: listening.proxies ?? 0,
  })
  await listener.listen({ host, port })
  // True because it listens on a TCP port: only a pipe has a string for an address.
  port = (listener.server.address() as AddressInfo).port
  return {
    /** Public origin. */
    url: consoleUrlOf(),
    /** Closes it after all started responses, or after `msMax`. */
    close: async (msMax: number): Promise<void> => {
      streams.end()
      index.stop()
      const forceClose = setTimeout(() => listener.server.closeAllConnections(), msMax)
      await listener.close()
      clearTimeout(forceClose)
    },
  }
}

/** Throws when `url` is not encrypted. */
export function assertSafe({ url }: Pick<ConsoleListening, 'url'>): void {
  if (url === undefined || isSafeOrigin(url)) return
  throw new Error(`--console-url ${url} must be https: otherwise passwords are sent unencrypted`)
}
