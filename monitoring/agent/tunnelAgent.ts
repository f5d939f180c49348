import type { RequestOptions } from 'node:http'
import { Agent, type AgentOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import type { HttpsProxy } from '../../api/network/proxy.ts'
import { openTunnel } from '../../api/network/tunnel.ts'

/** Connects to HTTPS servers through a proxy. `destroy` also ends connections in setup. */
export class TunnelAgent extends Agent {
  readonly #proxy: HttpsProxy
  readonly #ending = new AbortController()

  constructor(options: AgentOptions, proxy: HttpsProxy) {
    super(options)
    this.#proxy = proxy
  }

  override createConnection(
    options: RequestOptions,
    callback: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const connect = async (): Promise<Duplex> => {
      const socket = await openTunnel(
        this.#proxy,
        String(options.host),
        Number(options.port),
        this.#ending.signal,
      )
      // True because the agent returns the stream when it gets a socket.
      return super.createConnection({ ...options, socket } as RequestOptions) as Duplex
    }
    connect().then(
      (stream) => callback(null, stream),
      // With an error, the agent passes it on and does not use the stream.
      (error: Error) => callback(error, undefined as never),
    )
  }

  override destroy(): void {
    this.#ending.abort()
    super.destroy()
  }
}
