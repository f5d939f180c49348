import { type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http'
import { request as requestHttps } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { ResultsBusyError } from '../results/threads/resultsBusyError.ts'

/** Header of forwarded requests, which are not forwarded again. */
const FORWARDED = 'pharos-forwarded'
/** Maximum wait for the head of the response (milliseconds): the other server responds to a sync in half of that. */
export const RESPONSE_MS_MAX = 90_000

/**
 * Forwards a request to the server at `base`, and sends its response back. Rejects with ResultsBusyError while that
 * server cannot be reached or does not respond, and when `signal` aborts before it responds.
 */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { base, signal }: { readonly base: string; readonly signal: AbortSignal },
): Promise<void> {
  if (request.headers[FORWARDED] !== undefined)
    throw new ResultsBusyError(
      'this server does not monitor: another has taken over, or --agent-advertise-url is wrong',
    )
  const url = new URL(request.url ?? '/', base)
  const { host: _, connection: __, ...headers } = request.headers
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const sent = send(url, {
    method: 'POST',
    headers: { ...headers, [FORWARDED]: '1' },
    timeout: RESPONSE_MS_MAX,
    signal,
  })
  const end = (reason: string) => sent.destroy(new Error(reason))
  response.once('close', () => sent.destroy())
  sent.once('timeout', () => end('the other server is silent'))
  // Responses of 1xx, of which there may be many, end the silence.
  const deadline = setTimeout(() => end('the other server does not respond'), RESPONSE_MS_MAX)
  const arrival = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve)
    sent.once('error', reject)
    // Without a listener, Node ends the request without a response and without an error.
    sent.once('upgrade', (_response, socket) => {
      socket.destroy()
      reject(new Error('the other server responded with 101'))
    })
  }).finally(() => clearTimeout(deadline))
  // Not a pipeline, which takes the socket from a request whose destination fails: the response still needs it.
  request.pipe(sent)
  const reply = await arrival.catch((error: unknown) => {
    throw new ResultsBusyError('the server that monitors cannot be reached', { cause: error })
  })
  const { connection: ___, 'keep-alive': ____, 'transfer-encoding': _____, ...passed } = reply.headers
  response.writeHead(reply.statusCode ?? 502, passed)
  await pipeline(reply, response)
}
