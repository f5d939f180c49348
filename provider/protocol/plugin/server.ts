/** The gRPC server of a plugin: the provider, and go-plugin's own services beside it. */
import type { Socket } from 'node:net'
import {
  Server,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js'
import type { Log } from '../authoring/log.ts'
import type { Provider } from '../authoring/provider.ts'
import type { Session } from '../rpc/call.ts'
import { HEALTH } from '../wire/goplugin.ts'
import { type Access, credentialsFor } from './access.ts'
import type { CallTable } from './callTable.ts'
import { declineOtherRpcs, serveList, serveProviderRpcs, unaryServer } from './providerRpcs.ts'
import { BROKER_SERVICE, CONTROLLER_SERVICE, HEALTH_SERVICE, STDIO_SERVICE } from './services.ts'

/** As much as the servers of other providers take; grpc-js would refuse a state of more than 4 MiB. */
const MESSAGE_BYTES_MAX = 256 * 1024 * 1024

/** The name under which go-plugin asks for a plugin's health. */
const HEALTH_NAME = 'plugin'

const healthOf = (service: string): number =>
  service === '' || service === HEALTH_NAME ? HEALTH.serving : HEALTH.serviceUnknown

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
  readonly log: Log
  readonly calls: CallTable
  readonly access: Access
  /** Called when Terraform asks the plugin to end, after the answer was handed over. */
  onShutdown(): void
}

interface OpenStream {
  on(event: string, then: () => void): void
  end(): void
}

/** Services whose streams stay open as long as their client wants, and on which nothing more is sent. */
function addStandingStreams(server: Server): () => void {
  const open = new Set<OpenStream>()
  const hold = (stream: OpenStream): void => {
    open.add(stream)
    for (const event of ['cancelled', 'error', 'finish']) stream.on(event, () => void open.delete(stream))
  }
  server.addService(HEALTH_SERVICE, {
    Check: (
      { request }: ServerUnaryCall<{ readonly service: string }, object>,
      answer: sendUnaryData<object>,
    ) => answer(null, { status: healthOf(request.service) }),
    Watch: (stream: ServerWritableStream<{ readonly service: string }, object>) => {
      hold(stream)
      stream.write({ status: healthOf(stream.request.service) })
    },
  })
  server.addService(STDIO_SERVICE, { StreamStdio: hold })
  server.addService(BROKER_SERVICE, {
    StartStream: (stream: ServerDuplexStream<object, object>) => {
      hold(stream)
      stream.on('data', () => undefined)
      stream.on('end', () => stream.end())
    },
  })
  return () => {
    for (const stream of open) stream.end()
  }
}

/** Makes the server of one provider. */
export type ServedProvider = (parts: ServerParts) => PluginServer

/** What `serveProvider` is to load: `provider` together with the gRPC server, which is large. */
export function served(provider: Provider): ServedProvider {
  return (parts) => createPluginServer(provider, parts)
}

/** A server with every service of a plugin for `provider`. */
function createPluginServer(
  provider: Provider,
  { log, calls, access, onShutdown }: ServerParts,
): PluginServer {
  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
  })
  const session: Session = { provider, log, configured: undefined, stop: calls.stop }
  const serve = unaryServer(server, session, calls)
  serveProviderRpcs(serve)
  serveList(server, session, calls)
  declineOtherRpcs(server, provider.name)
  serve(CONTROLLER_SERVICE.Shutdown, async () => {
    calls.stop()
    setImmediate(onShutdown)
    return {}
  })
  const endStreams = addStandingStreams(server)
  const connections = server.createConnectionInjector(credentialsFor(access))
  const open = new Set<Socket>()
  let onEnd: (() => void) | undefined
  return {
    serve: (connection) => {
      open.add(connection)
      connection.once('close', () => {
        open.delete(connection)
        if (open.size === 0) onEnd?.()
      })
      connections.injectConnection(connection)
    },
    end: (then) => {
      endStreams()
      // Reports its end when the answers were handed over, which on Node 24 is before they are written.
      server.tryShutdown(() => undefined)
      if (open.size === 0) return then()
      onEnd = then
    },
    close: () => {
      endStreams()
      server.forceShutdown()
    },
  }
}
