import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'

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
  readonly close: () => Promise<void>
}

/** Starts a proxy in front of `target`. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const passed: Passed[] = []
  const userAgents: string[] = []
  const refusals: { method: string; path: RegExp; status: number; error: string }[] = []
  let taken = 0
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { method = '', url: path = '' } = incoming
      const body = Buffer.concat(chunks)
      passed.push({ method, path, body: body.toString() })
      userAgents.push(incoming.headers['user-agent'] ?? '')
      const refusal = refusals.findIndex((entry) => entry.method === method && entry.path.test(path))
      const [refused] = refusal === -1 ? [] : refusals.splice(refusal, 1)
      if (refused !== undefined) {
        outgoing.writeHead(refused.status, { 'content-type': 'application/json' })
        outgoing.end(JSON.stringify({ error: refused.error }))
        return
      }
      const onward = forward(`${target}${path}`, { method, headers: incoming.headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
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
    refuseNext: (method, path, status, error) => refusals.push({ method, path, status, error }),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
