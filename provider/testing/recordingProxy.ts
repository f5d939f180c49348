import { EventEmitter, once } from 'node:events'
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer, text } from 'node:stream/consumers'

/** A request that passed, without headers. */
export interface ProxiedRequest {
  readonly method: string
  readonly path: string
  readonly body: string
}

/** A proxy in front of a real server that records all requests. */
export interface RecordingProxy {
  readonly url: string
  /** Requests since the last call, as `METHOD /path`. */
  readonly requests: () => readonly string[]
  /** Everything that passed since the start, with bodies. */
  readonly passed: readonly ProxiedRequest[]
  /** The user agent of each request since the start. */
  readonly userAgents: readonly string[]
  /** Responds to the next request to `path` with `status` instead of forwarding it. */
  readonly refuseNext: (method: string, path: RegExp, status: number, error: string) => void
  /**
   * Forwards the next request to `path`, but loses its response: the client gets 502, a page of a gateway with status
   * 200, or a closed connection.
   */
  readonly loseResponse: (method: string, path: RegExp, how: Lost) => void
  /** Responds to requests with 429 instead of forwarding them while `isRefused` returns true. */
  readonly refuseForRate: (isRefused: () => boolean) => void
  /**
   * From now on misbehaves for requests to `path`: refuses all with 429, never responds, or sends an endless response
   * byte by byte. `undefined` ends this.
   */
  readonly misbehave: (misbehaviour: Misbehaviour | undefined) => void
  /** Resolves once a request has met the current misbehaviour. */
  readonly misbehaved: () => Promise<void>
  /** From now on rewrites responses to GET requests for exactly this path with `change`. */
  readonly rewrite: (path: string, change: (body: string) => string) => void
  /** Resolves once `count` requests of `method` have got a response since the start. */
  readonly responded: (method: string, count: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** The replacement for a lost response. */
type Lost = 200 | 502 | 'closed'

/** The misbehaviour for requests to `path`. */
export interface Misbehaviour {
  readonly path: RegExp
  readonly how: 'throttled' | 'silent' | 'dripping'
}

export interface ProxyOptions {
  /** Names of headers, in lower case, that are not forwarded. */
  readonly withoutHeaders?: readonly string[]
}

/** Time between two bytes of an endless response (milliseconds). */
const DRIP_MS = 20

/** A request with special treatment. */
interface Exception {
  readonly method: string
  readonly path: RegExp
  /** The response without forwarding, or the fate of the server's response. */
  readonly instead: { readonly status: number; readonly error: string } | Lost
}

/** The settings of a proxy, and its records. */
interface Memory {
  readonly passed: ProxiedRequest[]
  readonly userAgents: string[]
  readonly exceptions: Exception[]
  readonly rewrites: Map<string, (body: string) => string>
  readonly responseCounts: Map<string, number>
  /** Emits `response` after each forwarded response, and `misbehaviour` when a request met one. */
  readonly events: EventEmitter
  isRefused: () => boolean
  misbehaviour: Misbehaviour | undefined
  /** Whether a request has met the current misbehaviour. */
  hasMisbehaved: boolean
}

/** A complete request, and the stream for its response. */
interface Exchange {
  readonly method: string
  readonly path: string
  readonly outgoing: ServerResponse
}

/** Starts a proxy in front of `target`. */
export async function startRecordingProxy(
  target: string,
  options: ProxyOptions = {},
): Promise<RecordingProxy> {
  const memory: Memory = {
    passed: [],
    userAgents: [],
    exceptions: [],
    rewrites: new Map(),
    responseCounts: new Map(),
    events: new EventEmitter(),
    isRefused: () => false,
    misbehaviour: undefined,
    hasMisbehaved: false,
  }
  const server = createServer((incoming, outgoing) => {
    void buffer(incoming).then((body) => {
      const { method = '', url: path = '' } = incoming
      memory.passed.push({ method, path, body: body.toString() })
      memory.userAgents.push(incoming.headers['user-agent'] ?? '')
      if (memory.misbehaviour?.path.test(path)) return misbehave(memory, memory.misbehaviour, outgoing)
      if (memory.isRefused()) return respondWith(outgoing, 429, 'rate limit')
      const instead = exceptionFor(memory, method, path)
      if (typeof instead === 'object') return respondWith(outgoing, instead.status, instead.error)
      const headers = { ...incoming.headers }
      for (const name of options.withoutHeaders ?? []) delete headers[name]
      const onward = forward(`${target}${path}`, { method, headers }, (response) =>
        passOn(memory, { method, path, outgoing }, response, instead),
      )
      onward.on('error', () => outgoing.destroy())
      onward.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  return controlsOf(memory, {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

function controlsOf(memory: Memory, running: Pick<RecordingProxy, 'url' | 'close'>): RecordingProxy {
  let taken = 0
  return {
    ...running,
    passed: memory.passed,
    userAgents: memory.userAgents,
    requests: () => {
      const fresh = memory.passed.slice(taken)
      taken = memory.passed.length
      return fresh.map(({ method, path }) => `${method} ${path}`)
    },
    refuseNext: (method, path, status, error) =>
      void memory.exceptions.push({ method, path, instead: { status, error } }),
    loseResponse: (method, path, how) => void memory.exceptions.push({ method, path, instead: how }),
    refuseForRate: (isRefused) => {
      memory.isRefused = isRefused
    },
    misbehave: (misbehaviour) => {
      memory.misbehaviour = misbehaviour
      memory.hasMisbehaved = false
    },
    misbehaved: async () => {
      while (!memory.hasMisbehaved) await once(memory.events, 'misbehaviour')
    },
    rewrite: (path, change) => void memory.rewrites.set(path, change),
    responded: async (method, count) => {
      while ((memory.responseCounts.get(method) ?? 0) < count) await once(memory.events, 'response')
    },
  }
}

function misbehave(memory: Memory, { how }: Misbehaviour, outgoing: ServerResponse): void {
  memory.hasMisbehaved = true
  memory.events.emit('misbehaviour')
  if (how === 'throttled') respondWith(outgoing, 429, 'rate limit')
  if (how === 'dripping') {
    outgoing.writeHead(200, { 'content-type': 'application/json' })
    const drip = setInterval(() => outgoing.write(' '), DRIP_MS)
    outgoing.on('close', () => clearInterval(drip))
  }
}

/** Takes the exception for this request, which applies once. */
function exceptionFor(
  { exceptions }: Memory,
  method: string,
  path: string,
): Exception['instead'] | undefined {
  const place = exceptions.findIndex((entry) => entry.method === method && entry.path.test(path))
  return place === -1 ? undefined : exceptions.splice(place, 1)[0]?.instead
}

/** Sends the server's response to the client: unchanged, rewritten, or not at all. */
function passOn(
  { rewrites, responseCounts, events }: Memory,
  { method, path, outgoing }: Exchange,
  response: IncomingMessage,
  lost: Lost | undefined,
): void {
  if (lost !== undefined) {
    response.resume().on('end', () => {
      if (lost === 'closed') outgoing.destroy()
      else if (lost === 200) outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>')
      else respondWith(outgoing, lost, 'bad gateway')
    })
    return
  }
  const change = method === 'GET' ? rewrites.get(path) : undefined
  if (change !== undefined) {
    void text(response).then((whole) => {
      outgoing.writeHead(response.statusCode ?? 500, { 'content-type': 'application/json' })
      outgoing.end(change(whole))
    })
    return
  }
  outgoing.writeHead(response.statusCode ?? 500, response.headers)
  response.pipe(outgoing).on('finish', () => {
    responseCounts.set(method, (responseCounts.get(method) ?? 0) + 1)
    events.emit('response')
  })
}

function respondWith(outgoing: ServerResponse, status: number, error: string): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' })
  outgoing.end(JSON.stringify({ error }))
}
