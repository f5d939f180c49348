import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Outgoing } from '../../api/network/outgoing.ts'
import { ProxyError } from '../../api/network/proxyError.ts'
import { readSyncResponse } from '../protocol/messageProblem.ts'
import {
  type CallValue,
  COMPRESSED_BYTES_MIN,
  RESULTS_PATH,
  type ResultsResponse,
  type StartedService,
  SYNC_PATH,
  type SyncResponse,
} from '../protocol/messages.ts'
import { acceptSession, makeKeyPair, openFromSession, type SessionOffer } from '../protocol/sessionSeal.ts'
import { type Link, LinkError } from './link.ts'
import { TunnelAgent } from './tunnelAgent.ts'

const gunzipped = promisify(gunzip)
const gzipped = promisify(gzip)

/** Time limit of an exchange (milliseconds). The server delays the response to a sync by up to 25 s. */
const SYNC_MS_MAX = 35_000
const RESULTS_MS_MAX = 15_000
/** Maximum size of a response, before and after decompression (bytes). A page of definitions is a quarter of it. */
const RESPONSE_BYTES_MAX = 32 * 1_024 * 1_024
const HTTPS_PORT = 443
/** Maximum length of a refusal's text that is passed on (characters). */
const REFUSAL_CHARS_MAX = 300

/** Errors that mean a certificate from an untrusted authority. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Settings of a link over the network. */
export interface HttpsLinkSettings extends Outgoing {
  /** Base URL of the server's listener for agents. */
  readonly server: URL
  readonly token: string
}

interface Exchange {
  readonly path: string
  readonly body: unknown
  readonly agent: HttpAgent
  readonly deadlineMs: number
  readonly signal?: AbortSignal
}

/** A link to a server on another machine, with one connection for syncs and one for results. `close` ends both. */
export function httpsLink(settings: HttpsLinkSettings): Link & { readonly close: () => void } {
  const { server, authorities, proxy } = settings
  const keys = makeKeyPair()
  const options = { keepAlive: true, maxSockets: 1 }
  const isTls = server.protocol === 'https:'
  const isProxied = proxy?.covers(server.hostname, Number(server.port || HTTPS_PORT)) === true
  const makeAgent = () => {
    if (!isTls) return new HttpAgent(options)
    const secure = { ...options, ca: authorities }
    return isProxied ? new TunnelAgent(secure, proxy) : new HttpsAgent(secure)
  }
  const agents = { sync: makeAgent(), results: makeAgent() }
  let session: { readonly offer: SessionOffer; readonly key: Buffer } | undefined

  function keyOf(offer: SessionOffer): Buffer {
    // A server starts new sessions when it restarts.
    if (session?.offer.public_key !== offer.public_key) session = { offer, key: acceptSession(keys, offer) }
    return session.key
  }

  return {
    sync: async (_region, request, signal) => {
      const body = { ...request, public_key: keys.publicKey }
      const exchange = { path: SYNC_PATH, body, agent: agents.sync, deadlineMs: SYNC_MS_MAX, signal }
      const response = readSyncResponse(await send(settings, exchange))
      return response.sealing === null ? response : opened(response, keyOf(response.sealing))
    },
    results: async (body) => {
      const exchange = { path: RESULTS_PATH, body, agent: agents.results, deadlineMs: RESULTS_MS_MAX }
      // True because servers of this protocol send this response.
      return (await send(settings, exchange)) as ResultsResponse
    },
    close: () => {
      agents.sync.destroy()
      agents.results.destroy()
    },
  }
}

/** `response` with its sealed values in plain text. Throws when one cannot be opened. */
function opened(response: SyncResponse, key: Buffer): SyncResponse {
  return { ...response, start: response.start.map((service) => openedService(service, key)) }
}

function openedService(started: StartedService, key: Buffer): StartedService {
  const { org, service } = started
  const endpoints = started.endpoints.map((endpoint) => {
    const open = (slot: string, value: CallValue): CallValue =>
      'sealed' in value
        ? { secret: openFromSession(key, { org, service, endpoint: endpoint.id, slot }, value.sealed) }
        : value
    const { headers, body } = endpoint.call
    return {
      ...endpoint,
      call: {
        ...endpoint.call,
        headers: headers.map(([name, value]): [string, CallValue] => [
          name,
          open(`header:${name.toLowerCase()}`, value),
        ]),
        body: body === null ? null : open('body', body),
      },
    }
  })
  return { ...started, endpoints }
}

/** Sends `exchange` and resolves with the server's response. Rejects with a LinkError when the server refuses. */
async function send(settings: HttpsLinkSettings, exchange: Exchange): Promise<unknown> {
  const plain = Buffer.from(JSON.stringify(exchange.body))
  const isCompressed = plain.length >= COMPRESSED_BYTES_MIN
  const bytes = isCompressed ? await gzipped(plain, { level: 1 }) : plain
  const { status, text } = await exchanged(settings, exchange, { bytes, isCompressed })
  if (status !== 200) throw refusal(status, text)
  return JSON.parse(text)
}

interface Payload {
  readonly bytes: Buffer
  readonly isCompressed: boolean
}

interface StatusAndText {
  readonly status: number
  readonly text: string
}

function exchanged(
  { server, token }: HttpsLinkSettings,
  exchange: Exchange,
  { bytes, isCompressed }: Payload,
  isSecond = false,
): Promise<StatusAndText> {
  const { path, agent, deadlineMs, signal } = exchange
  const url = new URL(`${server.pathname.replace(/\/$/, '')}${path}`, server)
  const start = server.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = start(url, {
      ...{ method: 'POST', agent, signal },
      headers: {
        authorization: `Bearer ${token}`,
        'accept-encoding': 'gzip',
        'content-type': 'application/json',
        'content-length': bytes.length,
        ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
      },
    })
    const deadline = setTimeout(() => {
      request.destroy(new Error(`no response within ${deadlineMs / 1_000} s`))
    }, deadlineMs)
    request.on('response', (response) => {
      textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject)
    })
    // Without a listener, Node ends the request without a response and without an error.
    request.on('upgrade', (_response, socket) => {
      socket.destroy()
      reject(new Error('the server responded with 101: --server must name its --agent-port'))
    })
    request.on('error', (error: Error & { code?: string }) => {
      // The server ended an idle connection at the moment of its reuse.
      const isStale = request.reusedSocket && error.code === 'ECONNRESET' && !isSecond
      if (isStale) resolve(exchanged({ server, token }, exchange, { bytes, isCompressed }, true))
      else reject(withAdvice(error, server))
    })
    request.on('close', () => clearTimeout(deadline))
    request.end(bytes)
  })
}

function withAdvice(error: Error & { code?: string }, { host }: URL): Error {
  if (error instanceof ProxyError) {
    return new Error(`${error.message}: ${error.hint}`, { cause: error })
  }
  const { code = '' } = error
  if (!UNTRUSTED.has(code)) return error
  const text = `the certificate of ${host} is from an untrusted authority (${code}): name the authority with --ca-file`
  return new Error(text, { cause: error })
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response) {
    length += chunk.length
    if (length > RESPONSE_BYTES_MAX) throw new Error("the server's response is too long")
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  const plain =
    response.headers['content-encoding'] === 'gzip'
      ? await gunzipped(bytes, { maxOutputLength: RESPONSE_BYTES_MAX })
      : bytes
  return plain.toString()
}

function refusal(status: number, text: string): LinkError {
  let said: { readonly error?: unknown; readonly code?: unknown } = {}
  try {
    said = Object(JSON.parse(text))
  } catch {
    // A proxy in between may send any response.
  }
  const reason = typeof said.error === 'string' ? said.error.slice(0, REFUSAL_CHARS_MAX) : 'no reason given'
  const remedy = status === 404 ? '; --server must name its --agent-port' : ''
  return new LinkError(
    status,
    `the server responded with ${status}: ${reason}${remedy}`,
    said.code === 'protocol',
  )
}
