import { EventEmitter, once } from 'node:events'
import { createServer, request as forward, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A request as it passed, without headers. */
export interface Passed {
  readonly method: string
  readonly path: string
  readonly body: string
}

/** A proxy in front of a real server that remembers what passed. */
export interface RecordingProxy {
  readonly url: string
  /** Requests since the last call, as `METHOD /path`. */
  readonly requests: () => readonly string[]
  /** Everything that passed since the start, with bodies. */
  readonly passed: readonly Passed[]
  /** The user agent of each request since the start. */
  readonly userAgents: readonly string[]
  /** Answers the next request to `path` with `status` instead of passing it on. */
  readonly refuseNext: (method: string, path: RegExp, status: number, error: string) => void
  /** Passes the next request to `path` on, and loses its answer: the client gets 502, or a closed connection. */
  readonly loseAnswer: (method: string, path: RegExp, how: 502 | 'closed') => void
  /** Answers with 429 whatever `isRefused` says so of, instead of passing it on. */
  readonly refuseForRate: (isRefused: () => boolean) => void
  /** Has answers to GET requests of exactly this path changed by `change` from now on. */
  readonly rewrite: (path: string, change: (body: string) => string) => void
  /** Resolves once `count` requests of `method` have been answered since the start. */
  readonly answered: (method: string, count: number) => Promise<void>
  readonly close: () => Promise<void>
}

export interface ProxyOptions {
  /** Names of headers, in lower case, that are not passed on. */
  readonly withoutHeaders?: readonly string[]
}

/** A request that is not to be treated like the others. */
interface Exception {
  readonly method: string
  readonly path: RegExp
  /** The answer instead of passing it on; or what becomes of its answer. */
  readonly instead: { readonly status: number; readonly error: string } | 502 | 'closed'
}

/** Starts a proxy in front of `target`. */
export async function startRecordingProxy(
  target: string,
  options: ProxyOptions = {},
): Promise<RecordingProxy> {
  const passed: Passed[] = []
  const userAgents: string[] = []
  const exceptions: Exception[] = []
  const answers = new EventEmitter()
  const answeredCounts = new Map<string, number>()
  const rewrites = new Map<string, (body: string) => string>()
  let isRefused = (): boolean => false
  let taken = 0
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { method = '', url: path = '' } = incoming
      const body = Buffer.concat(chunks)
      passed.push({ method, path, body: body.toString() })
      userAgents.push(incoming.headers['user-agent'] ?? '')
      if (isRefused()) {
        answerWith(outgoing, 429, 'rate limit')
        return
      }
      const place = exceptions.findIndex((entry) => entry.method === method && entry.path.test(path))
      const instead = place === -1 ? undefined : exceptions.splice(place, 1)[0]?.instead
      if (typeof instead === 'object') {
        answerWith(outgoing, instead.status, instead.error)
        return
      }
      const headers = { ...incoming.headers }
      for (const name of options.withoutHeaders ?? []) delete headers[name]
      const onward = forward(`${target}${path}`, { method, headers }, (answer) => {
        const change = method === 'GET' && instead === undefined ? rewrites.get(path) : undefined
        if (change !== undefined) {
          void text(answer).then((whole) => {
            outgoing.writeHead(answer.statusCode ?? 500, { 'content-type': 'application/json' })
            outgoing.end(change(whole))
          })
          return
        }
        if (instead === undefined) {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(outgoing).on('finish', () => {
            answeredCounts.set(method, (answeredCounts.get(method) ?? 0) + 1)
            answers.emit('answer')
          })
          return
        }
        answer.resume().on('end', () => {
          if (instead === 'closed') outgoing.destroy()
          else answerWith(outgoing, instead, 'bad gateway')
        })
      })
      onward.on('error', () => outgoing.destroy())
      onward.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    passed,
    userAgents,
    requests: () => {
      const fresh = passed.slice(taken)
      taken = passed.length
      return fresh.map(({ method, path }) => `${method} ${path}`)
    },
    refuseNext: (method, path, status, error) =>
      void exceptions.push({ method, path, instead: { status, error } }),
    loseAnswer: (method, path, how) => void exceptions.push({ method, path, instead: how }),
    refuseForRate: (next) => {
      isRefused = next
    },
    rewrite: (path, change) => void rewrites.set(path, change),
    answered: async (method, count) => {
      while ((answeredCounts.get(method) ?? 0) < count) await once(answers, 'answer')
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function answerWith(outgoing: ServerResponse, status: number, error: string): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' })
  outgoing.end(JSON.stringify({ error }))
}
