import { createServer, type Server } from 'node:net'
import { assertSafe } from '../console/startConsole.ts'
import { assertKeysUsable } from '../secrets/keyring.ts'
import type { ProgramSettings } from './settings.ts'

/**
 * Rejects when a first start would fail, so that it leaves no data folder and no master key behind. They could not be
 * removed later, because another program may have begun to use them.
 */
export async function preflight(settings: ProgramSettings): Promise<void> {
  const { engine, dataDir, host, port, adminHost, adminPort, agents, status, keySource } = settings
  if (settings.console !== null) assertSafe(settings.console)
  if (await engine.exists()) return
  assertKeysUsable(keySource, dataDir)
  const admin = adminPort === null ? null : { host: adminHost, port: adminPort }
  const places = [
    [{ host, port }, '--host'],
    [admin, '--admin-host'],
    [agents, '--agent-host'],
    [status, '--status-host'],
    [settings.console, '--console-host'],
  ] as const
  const listening: Server[] = []
  try {
    for (const [place, flag] of places) {
      if (place === null) continue
      const server = createServer((socket) => socket.destroy())
      await listenAt(server, place, flag)
      listening.push(server)
    }
  } finally {
    await Promise.all(listening.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

/** Makes `server` listen; rejects with the flag of its address when it cannot. */
export function listenAt(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  hostFlag: string,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ host, port }, resolve)
  }).catch(withHostFlag(hostFlag))
}

/** Rethrows the error with the flag of its address, which the error does not name. */
export function withHostFlag(hostFlag: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof Error ? Object.assign(error, { hostFlag }) : error
  }
}
