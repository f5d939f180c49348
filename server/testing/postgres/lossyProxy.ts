import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

/** A proxy in front of PostgreSQL that loses responses on request. */
export interface LossyProxy {
  /** The URL of the database behind it. */
  readonly url: string
  /**
   * Delivers the next statement that contains `text`, and ends its connection instead of passing the response on.
   * Resolves when the database has responded.
   */
  readonly loseResponseTo: (text: string) => Promise<void>
  /** Ends all connections, and refuses new ones until `restore`. */
  readonly cut: () => void
  readonly restore: () => void
  /** Stops forwarding on the present connections, also their ends. Later ones are not affected. */
  readonly freeze: () => void
  /** Like `freeze`, also for connections that are made until `restore`. */
  readonly silence: () => void
  /** Sends later connections to the database server at `url`. */
  readonly redirect: (url: string) => void
  /** Number of requested connections so far. */
  readonly connections: () => number
  readonly close: () => Promise<void>
}

/** The socket of the database server at `url`, which is in a folder. */
function socketOf(url: string): string {
  return join(new URL(url).searchParams.get('host') ?? '', '.s.PGSQL.5432')
}

/** Starts a proxy in front of the database at `url`, which is one of a Cluster. */
export async function startLossyProxy(url: string): Promise<LossyProxy> {
  const behind = new URL(url)
  let path = socketOf(url)
  const open = new Set<Socket>()
  const frozen = new WeakSet<Socket>()
  let isCut = false
  let isSilent = false
  let connections = 0
  let wanted: { readonly text: string; readonly onLost: () => void } | undefined
  const server = createServer({ allowHalfOpen: true }, (client) => {
    connections += 1
    if (isCut) return client.destroy()
    const database = connect({ path, allowHalfOpen: true })
    let losing: (() => void) | undefined
    for (const socket of [client, database]) {
      open.add(socket)
      if (isSilent) frozen.add(socket)
      socket.on('error', () => {})
      socket.on('end', () => {
        if (!frozen.has(socket)) socket.end()
      })
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        database.destroy()
      })
    }
    client.on('data', (chunk) => {
      if (frozen.has(client)) return
      if (wanted !== undefined && chunk.includes(wanted.text)) {
        losing = wanted.onLost
        wanted = undefined
      }
      database.write(chunk)
    })
    database.on('data', (chunk) => {
      if (frozen.has(database)) return
      if (losing === undefined) return client.write(chunk)
      client.destroy()
      losing()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // True because the server listens on a port.
  const { port } = server.address() as AddressInfo
  const through = `postgresql://${behind.username}@127.0.0.1:${port}${behind.pathname}`
  const endAll = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: through,
    loseResponseTo: (text) =>
      new Promise((resolve) => {
        wanted = { text, onLost: resolve }
      }),
    cut: () => {
      isCut = true
      endAll()
    },
    restore: () => {
      isCut = false
      isSilent = false
    },
    freeze: () => {
      for (const socket of open) frozen.add(socket)
    },
    silence: () => {
      isSilent = true
      for (const socket of open) frozen.add(socket)
    },
    redirect: (to) => {
      path = socketOf(to)
    },
    connections: () => connections,
    close: async () => {
      endAll()
      server.close()
      await once(server, 'close')
    },
  }
}
