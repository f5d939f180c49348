import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'

/** Resolves after everything that had arrived on any connection has been read. */
async function oneLook(): Promise<void> {
  await setImmediate()
  await setImmediate()
}

/**
 * Watches the answers of `server`; returns what stops it gently: no new connections, and resolved when every
 * answer that was begun has left. Closing a server outright ends connections whose answer was written but
 * not yet sent.
 */
export function watchAnswers(server: Server): () => Promise<void> {
  const underWay = new Set<ServerResponse>()
  let isStopping = false
  let whenEmpty: () => void = () => {}
  // One listener for all: a closure for each answer would cost every request.
  function forget(this: ServerResponse): void {
    underWay.delete(this)
    if (underWay.size === 0) whenEmpty()
  }
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    underWay.add(response)
    // The client is told not to send another request to a server that goes away.
    if (isStopping) response.setHeader('connection', 'close')
    response.on('close', forget)
  })
  return async () => {
    isStopping = true
    // An HTTP server's own close ends idle connections at once; that of its base only stops listening.
    NetServer.prototype.close.call(server)
    for (const response of underWay) {
      if (!response.headersSent) response.setHeader('connection', 'close')
    }
    do {
      if (underWay.size > 0) {
        await new Promise<void>((resolve) => {
          whenEmpty = resolve
        })
      }
      // A request may already lie in the buffer of a connection that seems idle: one look shows it.
      await oneLook()
    } while (underWay.size > 0)
    // What is left has asked for nothing yet, which Node does not count as idle.
    server.closeAllConnections()
  }
}
