/** A server that implements only the API document: a proxy in front of a real one. */
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { API_KEY_PREFIX } from '../../api/contract/apiKey.ts'

/** Prefix of accepted keys, which replaces ours. */
export const PLAIN_KEY_PREFIX = 'acme-live_'

/** The request headers in the document. Idempotency-Key, Prefer and If-Match are not among them. */
const REQUEST_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'authorization',
  'content-type',
  'user-agent',
])

/** Members that may be omitted when they are null. Contract: Service (response). */
const MAY_BE_ABSENT: ReadonlySet<string> = new Set([
  'auto_incident_failure_threshold',
  'auto_incident_window_minutes',
  'body',
  'created_by_email',
  'headers',
  'max_redirects_to_follow',
  'name',
  'paused_at',
  'with_dns',
])

/** `apiKey` with the prefix of a plain server. */
export function plainKey(apiKey: string): string {
  return apiKey.replace(API_KEY_PREFIX, PLAIN_KEY_PREFIX)
}

/**
 * Starts the proxy in front of the server at `target`. Keys have a different prefix. Requests and responses lose every
 * header that is not in the document. Errors have different texts, instants an offset, and a page of incidents a
 * different envelope. Optional members are absent.
 */
export async function startPlainServer(
  target: string,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const proxy = createServer((incoming, outgoing) => {
    void buffer(incoming).then((body) => pass(target, incoming, { body, outgoing }))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  const { port } = proxy.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      proxy.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}

function pass(
  target: string,
  { method = '', url = '', headers }: IncomingMessage,
  { body, outgoing }: { readonly body: Buffer; readonly outgoing: ServerResponse },
): void {
  const kept = Object.entries(headers).filter(([name]) => REQUEST_HEADERS.has(name))
  const onward = forward(`${target}${url}`, {
    method,
    headers: {
      ...Object.fromEntries(kept),
      authorization: (headers.authorization ?? '').replace(PLAIN_KEY_PREFIX, API_KEY_PREFIX),
      'content-length': body.length,
    },
  })
  onward.on('error', () => outgoing.destroy())
  onward.on('response', (upstreamResponse) => {
    void buffer(upstreamResponse).then((bytes) => {
      const status = upstreamResponse.statusCode ?? 500
      outgoing.writeHead(status, bytes.length === 0 ? {} : { 'content-type': 'application/json' })
      outgoing.end(bytes.length === 0 ? undefined : plainBody(status, bytes.toString()))
    })
  })
  onward.end(body)
}

function plainBody(status: number, text: string): string {
  // Contract: Errors. The text for 401 is the only one that the document fixes.
  if (status >= 400) return JSON.stringify({ error: status === 401 ? 'unauthorized' : `E${status}` })
  const body: unknown = JSON.parse(text, plainMember)
  return JSON.stringify(
    isIncidentPage(body) ? { results: body.items, more: body.page < body.total_pages } : body,
  )
}

function plainMember(name: string, value: unknown): unknown {
  if (value === null && MAY_BE_ABSENT.has(name)) return undefined
  return name.endsWith('_at') && typeof value === 'string' ? value.replace(/Z$/, '+00:00') : value
}

function isIncidentPage(
  body: unknown,
): body is { readonly items: unknown; readonly page: number; readonly total_pages: number } {
  return typeof body === 'object' && body !== null && 'items' in body && 'total_pages' in body
}
