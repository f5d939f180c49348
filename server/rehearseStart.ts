import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import type { ProgramSettings } from './program.ts'
import { assertKeysUsable } from './secrets/keyring.ts'
import { databaseFile } from './store/openDatabase.ts'

type Rehearsed = Pick<ProgramSettings, 'dataDir' | 'host' | 'port' | 'adminPort' | 'keySource'>

/**
 * Rejects with what would stop a server whose data folder is still to be made: a start that fails leaves no folder and no
 * master key behind. They could not be taken away again: another program may have begun to use them.
 */
export async function rehearseStart({ dataDir, host, port, adminPort, keySource }: Rehearsed): Promise<void> {
  if (existsSync(databaseFile(dataDir))) return
  assertKeysUsable(keySource, dataDir)
  const listening: Server[] = []
  try {
    for (const each of adminPort === null ? [port] : [port, adminPort]) {
      listening.push(await listen(host, each))
    }
  } finally {
    await Promise.all(listening.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

/** Resolves to a server that turns everybody away; rejects when the address cannot be listened on. */
function listen(host: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', reject).listen({ host, port }, () => resolve(server))
  })
}
