import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * What happens to one request: `pass` it goes through; `drop` it never arrives and the connection breaks;
 * `lose` it arrives and the answer is lost; `late` the connection breaks and it arrives with the next
 * `land()`; `bad-gateway` it arrives and 502 is answered; `internal` it does not arrive and 500 is answered;
 * `truncate` it arrives and half of the answer comes back; with a `Misanswer` it arrives and the answer is a wrong one.
 */
export type Fault = 'pass' | 'drop' | 'lose' | 'late' | 'bad-gateway' | 'internal' | 'truncate' | Misanswer

/**
 * What comes back in the place of the right answer, with its status: `html` a page, with status 200; `no-id` the
 * service without its id; `half-json` half of the JSON, as if that were all; `wrong-type` the right body as plain text.
 */
export type Misanswer = 'html' | 'no-id' | 'half-json' | 'wrong-type'

/** A proxy before a real server that treats each changing request as configured. */
export interface FaultProxy {
  readonly url: string
  /** Decides over each request that is no GET; everything passes until it is set. */
  decide: (method: string, path: string) => Fault | Promise<Fault>
  /** Whether a request is answered with 404 instead, whatever its method. */
  refuses: (path: string) => boolean
  /** Whether every request is answered with 429. */
  throttles: boolean
  /** A refusal that answers a changing request instead of the server; `undefined` lets it through. */
  refusesWith: (
    method: string,
    path: string,
  ) => { readonly status: number; readonly error: string; readonly retryAfterSecs?: number } | undefined
  /** Called after a changing request had its effect, before its answer goes back. */
  afterEffect: (method: string, path: string) => void
  /** Lets everything that is late arrive now. */
  readonly land: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Starts a proxy in front of `target`. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const late: Forward[] = []
  const server = createServer((incoming, outgoing) => {
    void treat(incoming, outgoing)
  })
  const treat = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await bodyOf(incoming)
    const { method = 'GET', url = '/' } = incoming
    if (proxy.throttles) {
      answer(outgoing, { status: 429, body: Buffer.from('{"error":"rate_limited"}') })
      return
    }
    if (proxy.refuses(url)) {
      answer(outgoing, { status: 404, body: Buffer.from('{"error":"not_found"}') })
      return
    }
    const refusal = method === 'GET' ? undefined : proxy.refusesWith(method, url)
    if (refusal !== undefined) {
      const { status, error, retryAfterSecs } = refusal
      const headers = retryAfterSecs === undefined ? {} : { 'retry-after': String(retryAfterSecs) }
      answer(outgoing, { status, body: Buffer.from(JSON.stringify({ error })), headers })
      return
    }
    const fault = method === 'GET' ? 'pass' : await proxy.decide(method, url)
    const forward: Forward = async () => {
      const answer = await forwarded(target, incoming, body)
      if (method !== 'GET') proxy.afterEffect(method, url)
      return answer
    }
    await execute(fault, { outgoing, forward, late })
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because a server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${port}`,
    decide: () => 'pass',
    refuses: () => false,
    throttles: false,
    refusesWith: () => undefined,
    afterEffect: () => {},
    land: async () => {
      for (const forward of late.splice(0)) await forward()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return proxy
}

/** Has the server carry a request out. */
type Forward = () => Promise<Answer>

/** Does to one request what `fault` says. */
async function execute(
  fault: Fault,
  {
    outgoing,
    forward,
    late,
  }: { readonly outgoing: ServerResponse; readonly forward: Forward; readonly late: Forward[] },
): Promise<void> {
  switch (fault) {
    case 'drop':
      outgoing.destroy()
      return
    case 'late':
      late.push(forward)
      outgoing.destroy()
      return
    case 'internal':
      answer(outgoing, { status: 500, body: Buffer.from('{"error":"internal"}') })
      return
    case 'lose':
      await forward()
      outgoing.destroy()
      return
    case 'bad-gateway':
      await forward()
      answer(outgoing, { status: 502, body: Buffer.from('<html>bad gateway</html>') })
      return
    case 'truncate': {
      const whole = await forward()
      outgoing.writeHead(whole.status, { 'content-length': Math.max(1, whole.body.length) })
      outgoing.write(whole.body.subarray(0, whole.body.length / 2), () => outgoing.destroy())
      return
    }
    case 'pass':
      answer(outgoing, await forward())
      return
    default:
      answer(outgoing, misanswered(await forward(), fault))
  }
}

interface Answer {
  readonly status: number
  readonly body: Buffer
  readonly headers?: Readonly<Record<string, string>>
}

function answer(outgoing: ServerResponse, { status, body, headers = {} }: Answer): void {
  if (outgoing.destroyed) return
  outgoing.writeHead(status, body.length === 0 ? {} : { 'content-type': 'application/json', ...headers })
  outgoing.end(body)
}

function misanswered({ status, body }: Answer, how: Misanswer): Answer {
  switch (how) {
    case 'html':
      return {
        status: 200,
        body: Buffer.from('<html>Please log in</html>'),
        headers: { 'content-type': 'text/html' },
      }
    case 'no-id':
      return { status, body: Buffer.from(body.toString().replace(/"id":"[^"]*",?/, '')) }
    case 'half-json':
      return { status, body: body.subarray(0, body.length / 2) }
    case 'wrong-type':
      return { status, body, headers: { 'content-type': 'text/plain' } }
  }
}

async function bodyOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function forwarded(target: string, incoming: IncomingMessage, body: Buffer): Promise<Answer> {
  const { host: _host, connection: _connection, ...headers } = incoming.headers
  return new Promise((resolve, reject) => {
    const outgoing = request(`${target}${incoming.url}`, { method: incoming.method, headers }, (response) => {
      bodyOf(response).then((whole) => resolve({ status: response.statusCode ?? 0, body: whole }), reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
