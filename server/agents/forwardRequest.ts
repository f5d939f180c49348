import { type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http'
import { request as requestHttps } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { ResultsBusyError } from '../results/threads/resultsBusyError.ts'

/** Header of forwarded requests, which are not forwarded again. */
const FORWARDED = 'pharos-forwarded'
/** Maximum wait for the other server (milliseconds): it responds to a sync in half of that. */
const SILENCE_MS_MAX = 90_000

/**
 * Forwards a request to the server at `base`, and sends its response back. Rejects with ResultsBusyError while that
 * server cannot be reached, and when `signal` aborts before it responds.
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
    timeout: SILENCE_MS_MAX,
    signal,
  })
  response.once('close', () => sent.destroy())
  sent.once('timeout', () => sent.destroy(new Error('the other server does not respond')))
  const arrival = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve)
    sent.once('error', reject)
  })
  // Not a pipeline, which takes the socket from a request whose destination fails: the response still needs it.
  request.pipe(sent)
  const reply = await arrival.catch((error: unknown) => {
    throw new ResultsBusyError('the server that monitors cannot be reached', { cause: error })
  })
  const { connection: ___, 'keep-alive': ____, 'transfer-encoding': _____, ...passed } = reply.headers
  response.writeHead(reply.statusCode ?? 502, passed)
  await pipeline(reply, response)
}
