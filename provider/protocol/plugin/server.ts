/** The gRPC server of a plugin: the provider, and the services of go-plugin. */
import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import { createGrpcServer, type Method } from '../grpc/server.ts'
import { type Access, admit } from './access.ts'
import { noteWork } from './compileCache.ts'
import { earlyMethods } from './earlyMethods.ts'

/** The methods of a plugin by path. */
export type Methods = ReadonlyMap<string, Method>

/** A server for connections that its owner accepts. */
export interface PluginServer {
  /** Serves the unread `connection`. */
  serve(connection: Socket): void
  /** Ends open streams, and calls `then` when every connection is closed. */
  end(then: () => void): void
  /** Drops every connection. */
  close(): void
}

interface ServerParts {
  readonly access: Access
  /**
   * Returns the methods of the provider. Called immediately, or, when `schema` is given, at the first call of one of
   * them. Streams end when `ending` aborts.
   */
  provider(ending: AbortSignal): Promise<Methods>
  /** The response to GetProviderSchema, if it is known without the provider. */
  readonly schema?: Uint8Array | undefined
  /** Called when Terraform asks the plugin to end, before the response is sent. */
  onShutdown(): void
}

/** A server with every service of a plugin. */
export function createPluginServer({ access, provider, schema, onShutdown }: ServerParts): PluginServer {
  const ending = new AbortController()
  // Every open stream listens; Node would warn at eleven listeners.
  setMaxListeners(0, ending.signal)
  const early = earlyMethods({ schema, onShutdown, ending: ending.signal })
  let loading: Promise<Methods> | undefined
  const load = (): Promise<Methods> => {
    loading ??= provider(ending.signal)
    return loading
  }
  // Prevents an unhandled rejection; calls that wait for the provider fail with it.
  if (schema === undefined) load().catch(() => undefined)
  const server = createGrpcServer(async (path) => {
    const method = early.get(path) ?? (await load()).get(path)
    if (method !== undefined) noteWork(path)
    return method
  })
  const admitted = admit(access, server.serve)
  const open = new Set<Socket>()
  let onEnd: (() => void) | undefined
  return {
    serve: (connection) => {
      // The connection closed while the server was loading.
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
