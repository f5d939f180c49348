import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import * as z from 'zod'
import { ApiError } from '../../api/contract/apiError.ts'
import { isAgentToken } from '../../monitoring/protocol/agentToken.ts'
import { messageProblem } from '../../monitoring/protocol/messageProblem.ts'
import { RESULTS_PATH, SYNC_PATH } from '../../monitoring/protocol/messages.ts'
import { hashKey } from '../domain/apiKeys.ts'
import { keyBuckets } from '../http/rateLimit.ts'
import type { CertificateSource } from '../http/transport/certificate.ts'
import { limitConnections } from '../../api/runtime/connectionLimits.ts'
import { watchResponses } from '../http/transport/gracefulClose.ts'
import { plainServer } from '../http/transport/plainServer.ts'
import { TIMEOUTS } from '../http/transport/timeouts.ts'
import { dropBody } from '../http/transport/unreadBody.ts'
import { ResultsBusyError } from '../results/threads/resultsBusyError.ts'
import type { AgentToken, AgentTokenStore } from '../store/monitoringStore.ts'
import { sendJson, MessageReader, ProtocolError } from './agentMessage.ts'
import { forwardRequest } from './forwardRequest.ts'
import type { Hub } from './hub.ts'

/** Maximum number of connections of agents, two per agent. */
const CONNECTIONS_MAX = 1_024
/** Rate limit of wrong tokens from one address. */
const WRONG_TOKENS = { burstRequests: 10, refillIntervalMs: 100 }
/** Interval between checks for revoked tokens of waiting requests (milliseconds). */
const REVOKED_CHECK_MS = 1_000
/** Interval at which failures to forward requests are logged (milliseconds). */
const FORWARD_LOG_MS = 60_000
/** Longest time for an agent to read a response (milliseconds). */
const TAKEN_MS_MAX = 60_000
/** Time for responses in progress to finish when the server stops (milliseconds). */
const STOP_MS_MAX = 5_000
/** Retry-After of an agent that sent too many requests (seconds). */
const BUSY_RETRY_S = '2'

/** Receives the messages of agents. */
export type AgentHub = Pick<Hub, 'sync' | 'ingest' | 'forgetToken'>

/** Dependencies of the listener for agents. */
export interface AgentListenerParts {
  readonly hub: AgentHub
  /**
   * URL of the server that serves agents; `undefined` on that server. Throws ResultsBusyError while the URL is unknown.
   */
  readonly elsewhere: () => string | undefined
  readonly tokens: Pick<AgentTokenStore, 'agentTokenOf'>
  /** Absent behind a TLS proxy, or on loopback. */
  readonly tls?: CertificateSource | undefined
  readonly monotonicMs: () => number
  readonly log: Logger
}

/** An authenticated request. */
interface Admitted {
  readonly token: AgentToken
  readonly hash: Buffer
}

/** Creates the listener for agents, which serves only their protocol and does not accept API keys. */
export function agentListener(parts: AgentListenerParts) {
  const { hub, elsewhere, tokens, tls, monotonicMs, log } = parts
  const reader = new MessageReader()
  const spendWrongToken = keyBuckets(monotonicMs, WRONG_TOKENS)
  const waiting = new Map<AbortController, Admitted>()
  let isStopping = false
  /** Aborted when the server stops. */
  const forwardedSyncs = new AbortController()
  // Every waiting agent listens; Node would warn at eleven listeners.
  setMaxListeners(0, forwardedSyncs.signal)
  let forwardQuietUntilMs = Number.NEGATIVE_INFINITY

  const server = plainServer(tls, { keepAliveTimeout: TIMEOUTS.keepAliveMs }, { respond, refuse })
  server.maxConnections = 2 * CONNECTIONS_MAX
  server.setTimeout(TIMEOUTS.silenceMs)
  const responses = watchResponses(server)
  const limits = limitConnections(server, {
    connectionsMax: CONNECTIONS_MAX,
    isIdle: responses.isIdle,
    onEnd: ({ address }) =>
      log.debug({ address }, 'a connection of an agent was closed to make room for another'),
  })

  async function admit(request: IncomingMessage): Promise<Admitted> {
    const presented = /^bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const hash = hashKey(presented)
    const token = isAgentToken(presented) ? await tokens.agentTokenOf(hash) : undefined
    if (token !== undefined) return { token, hash }
    const { isAllowed } = await spendWrongToken(request.socket.remoteAddress ?? '')
    if (!isAllowed) throw new ApiError('rate_limited', 'too many wrong tokens')
    throw wrongToken()
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?', 1)[0]
    if (path !== SYNC_PATH && path !== RESULTS_PATH) throw new ApiError('not_found', 'not found')
    if (request.method !== 'POST') throw new ApiError('method_not_allowed', 'method must be POST')
    const admitted = await admit(request)
    limits.assignKey(request.socket, admitted.token.id)
    const other = elsewhere()
    if (other !== undefined) {
      // Results are soon stored; a sync waits for changes.
      const signal = path === SYNC_PATH ? forwardedSyncs.signal : new AbortController().signal
      return forward(request, response, { base: other, signal })
    }
    const message = await reader.read(request)
    const value =
      path === SYNC_PATH ? await sync(admitted, message, response) : await ingest(admitted, message)
    const timeout = setTimeout(() => request.socket.destroy(), TAKEN_MS_MAX)
    responses.whenClosed(response, () => clearTimeout(timeout))
    await sendJson(response, { status: 200, value })
  }

  /** Forwards a request to the server at `other`. Logs failures at intervals: agents only wait, and report nothing. */
  async function forward(
    request: IncomingMessage,
    response: ServerResponse,
    to: { readonly base: string; readonly signal: AbortSignal },
  ): Promise<void> {
    try {
      await forwardRequest(request, response, to)
    } catch (error) {
      // Neither this server nor the agent ended it.
      const isFailure = error instanceof ResultsBusyError && !to.signal.aborted && !response.destroyed
      if (isFailure && monotonicMs() >= forwardQuietUntilMs) {
        forwardQuietUntilMs = monotonicMs() + FORWARD_LOG_MS
        log.warn({ err: error, server: to.base }, 'requests of agents cannot be forwarded')
      }
      throw error
    }
  }

  async function sync(admitted: Admitted, message: unknown, response: ServerResponse): Promise<unknown> {
    const { token } = admitted
    const end = new AbortController()
    response.once('close', () => end.abort())
    if (isStopping) end.abort()
    waiting.set(end, admitted)
    try {
      const value = await hub.sync({ region: token.region, token }, message, end.signal)
      if (end.signal.reason === REVOKED) throw wrongToken()
      return value
    } finally {
      waiting.delete(end)
    }
  }

  const ingest = ({ token }: Admitted, message: unknown): Promise<unknown> =>
    hub.ingest([token.region], message, token)

  /** Ends waiting requests with a revoked token. */
  async function lookForRevoked(): Promise<void> {
    // Many waiting agents may share a token.
    const used = new Map([...waiting.values()].map(({ token, hash }) => [token.id, hash]))
    for (const [id, hash] of used) {
      if ((await tokens.agentTokenOf(hash)) !== undefined) continue
      hub.forgetToken(id)
      for (const [end, { token }] of waiting) if (token.id === id) end.abort(REVOKED)
    }
  }
  const looking = setInterval(() => {
    lookForRevoked().catch((error: unknown) =>
      log.error({ err: error }, 'tokens of agents could not be read'),
    )
  }, REVOKED_CHECK_MS)

  function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    // The agent has disconnected.
    if (response.headersSent || response.destroyed) return void response.destroy()
    if (!request.complete) {
      response.setHeader('connection', 'close')
      dropBody(request)
    }
    const refusal = refusalOfAgent(error)
    if (refusal.status === 500) log.error({ err: error }, 'a request of an agent failed')
    sendJson(response, refusal).catch(() => response.destroy())
  }

  return {
    /** Not yet listening. */
    server,
    /** Responds to waiting requests; resolves when the responses are sent. */
    stop: async (): Promise<void> => {
      isStopping = true
      clearInterval(looking)
      for (const end of waiting.keys()) end.abort()
      forwardedSyncs.abort()
      const timeout = setTimeout(() => server.closeAllConnections(), STOP_MS_MAX)
      await responses.stop()
      clearTimeout(timeout)
    },
  }
}

const REVOKED = Symbol('revoked')

function wrongToken(): ApiError {
  return new ApiError('unauthorized', 'the agent token is unknown or revoked')
}

/** The response to a refused request. Pure. */
function refusalOfAgent(error: unknown) {
  if (error instanceof ProtocolError) {
    return { status: 400, value: { error: error.message, code: 'protocol' } }
  }
  if (error instanceof ResultsBusyError) {
    return { status: 429, value: { error: error.message }, headers: { 'retry-after': BUSY_RETRY_S } }
  }
  const known = error instanceof z.ZodError ? new ApiError('invalid', messageProblem(error)) : error
  const { status, message, code } =
    known instanceof ApiError ? known : new ApiError('internal', 'internal error', { cause: known })
  const headers: Readonly<Record<string, string>> =
    code === 'unauthorized'
      ? { 'www-authenticate': 'Bearer' }
      : code === 'rate_limited'
        ? { 'retry-after': BUSY_RETRY_S }
        : {}
  return { status, value: { error: message }, headers }
}
