/** The gRPC server of a plugin: the provider, and go-plugin's own services beside it. */
import type { Socket } from 'node:net'
import { createGrpcServer, type Method } from '../grpc/server.ts'
import { type Access, admit } from './access.ts'
import { earlyMethods } from './earlyMethods.ts'

/** The methods of a plugin, each under its path. */
export type Methods = ReadonlyMap<string, Method>

/** A server of connections that its owner accepts. */
export interface PluginServer {
  /** Serves `connection`, of which nothing was read yet. */
  serve(connection: Socket): void
  /** Ends the streams that would otherwise stay open, and calls `then` when every connection is closed. */
  end(then: () => void): void
  /** Drops every connection. */
  close(): void
}

interface ServerParts {
  readonly access: Access
  /**
   * Gives the methods of the provider. Called at once, or with `schema` when the first of them is called. Streams that would
   * stay open end when `ending` aborts.
   */
  provider(ending: AbortSignal): Promise<Methods>
  /** The answer to GetProviderSchema, where it is known without the provider. */
  readonly schema?: Uint8Array | undefined
  /** Called when Terraform asks the plugin to end, before the answer is handed over. */
  onShutdown(): void
}

/** A server with every service of a plugin. */
export function createPluginServer({ access, provider, schema, onShutdown }: ServerParts): PluginServer {
  const ending = new AbortController()
  const early = earlyMethods({ schema, onShutdown, ending: ending.signal })
  let loading: Promise<Methods> | undefined
  const load = (): Promise<Methods> => {
    loading ??= provider(ending.signal)
    return loading
  }
  // What it is rejected with is the answer to the calls that wait for it.
  if (schema === undefined) load().catch(() => undefined)
  const server = createGrpcServer(async (path) => early.get(path) ?? (await load()).get(path))
  const admitted = admit(access, server.serve)
  const open = new Set<Socket>()
  let onEnd: (() => void) | undefined
  return {
    serve: (connection) => {
      // Closed while the server was loaded.
      if (connection.destroyed) return
      open.add(connection)
      connection.once('close', () => {
        open.delete(connection)
        if (open.size === 0) onEnd?.()
      })
      admitted(connection)
    },
    end: (then) => {
      ending.abort()
      server.end()
      if (open.size === 0) return then()
      onEnd = then
    },
    close: () => {
      server.close()
      for (const connection of open) connection.destroy()
    },
  }
}
