import type { MessagePort } from 'node:worker_threads'
import type { ResultsResponse, ResultsRequest, SyncRequest } from '../protocol/messages.ts'
import { type Link, LinkError, type LinkSyncRequest } from './link.ts'

/** A request of an agent in a thread to the server that started it. */
export type PortRequest =
  | { readonly id: number; readonly kind: 'sync'; readonly region: string; readonly body: SyncRequest }
  | { readonly id: number; readonly kind: 'results'; readonly body: ResultsRequest }
  /** The request with this id was cancelled. */
  | { readonly id: number; readonly kind: 'cancel' }

/** A response, or the reason why there is none; with a status when the message itself is refused. */
export type PortResponse =
  | { readonly id: number; readonly kind: 'response'; readonly body: unknown }
  | { readonly id: number; readonly kind: 'failed'; readonly reason: string; readonly status?: number }

interface Waiting {
  readonly resolve: (body: unknown) => void
  readonly reject: (error: Error) => void
  /** Stops listening to the caller's signal, which outlives many requests. */
  readonly release: () => void
}

/** A link to a server in the same process. Pass every response from `port` to `take`. */
export function portLink(
  port: Pick<MessagePort, 'postMessage'>,
): Link & { take(response: PortResponse): void } {
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  const ask = (request: (id: number) => PortRequest, signal?: AbortSignal): Promise<unknown> => {
    lastId += 1
    const id = lastId
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        if (!waiting.delete(id)) return
        port.postMessage({ id, kind: 'cancel' } satisfies PortRequest)
        reject(new Error('stopped'))
      }
      waiting.set(id, { resolve, reject, release: () => signal?.removeEventListener('abort', cancel) })
      signal?.addEventListener('abort', cancel, { once: true })
      port.postMessage(request(id))
    })
  }
  return {
    sync: (region, body, signal) => ask((id) => ({ id, kind: 'sync', region, body: inClear(body) }), signal),
    // True because the server has the same release.
    results: async (body) => (await ask((id) => ({ id, kind: 'results', body }))) as ResultsResponse,
    take: (response) => {
      const request = waiting.get(response.id)
      waiting.delete(response.id)
      request?.release()
      if (response.kind === 'response') request?.resolve(response.body)
      else request?.reject(errorOf(response))
    },
  }
}

function errorOf({ reason, status }: PortResponse & { readonly kind: 'failed' }): Error {
  return status === undefined ? new Error(reason) : new LinkError(status, reason)
}

/** Within a process secrets are sent in plain text. */
function inClear(request: LinkSyncRequest): SyncRequest {
  return { ...request, public_key: null }
}
