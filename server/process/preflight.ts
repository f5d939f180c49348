import { createServer, type Server } from 'node:net'
import { assertSafe } from '../console/startConsole.ts'
import { assertKeysUsable } from '../secrets/keyring.ts'
import type { ProgramSettings } from './settings.ts'

type Checked = Pick<
  ProgramSettings,
  | 'engine'
  | 'dataDir'
  | 'host'
  | 'port'
  | 'adminHost'
  | 'adminPort'
  | 'agents'
  | 'status'
  | 'console'
  | 'keySource'
>

/**
 * Rejects when a first start would fail, so that it leaves no data folder and no master key behind. They could not be
 * removed later, because another program may have begun to use them.
 */
export async function preflight(settings: Checked): Promise<void> {
  const { engine, dataDir, host, port, adminHost, adminPort, agents, status, keySource } = settings
  if (settings.console !== null) assertSafe(settings.console)
  if (await engine.exists()) return
  assertKeysUsable(keySource, dataDir)
  const listening: Server[] = []
  try {
    listening.push(await listen(host, port))
    if (adminPort !== null) {
      listening.push(await listen(adminHost, adminPort).catch(withHostFlag('--admin-host')))
    }
    if (agents !== null) {
      listening.push(await listen(agents.host, agents.port).catch(withHostFlag('--agent-host')))
    }
    if (status !== null) {
      listening.push(await listen(status.host, status.port).catch(withHostFlag('--status-host')))
    }
    if (settings.console !== null) {
      const { host, port } = settings.console
      listening.push(await listen(host, port).catch(withHostFlag('--console-host')))
    }
  } finally {
    await Promise.all(listening.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

/** Resolves to a server that refuses every connection; rejects when it cannot listen on the address. */
function listen(host: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', reject).listen({ host, port }, () => resolve(server))
  })
}

/** Rethrows the error with the flag of its address, which the error does not name. */
export function withHostFlag(hostFlag: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof Error ? Object.assign(error, { hostFlag }) : error
  }
}
