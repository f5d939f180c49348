import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * What happens to one request: `pass` it goes through; `drop` it never arrives and the connection breaks;
 * `lose` it arrives and the response is lost; `late` the connection breaks and it arrives with the next
 * `land()`; `bad-gateway` it arrives and the client gets 502; `internal` it does not arrive and the client gets 500;
 * `truncate` it arrives and half of the response comes back; with a `WrongResponse` it arrives and the response is
 * wrong.
 */
export type Fault =
  | 'pass'
  | 'drop'
  | 'lose'
  | 'late'
  | 'bad-gateway'
  | 'internal'
  | 'truncate'
  | WrongResponse

/**
 * What comes back in the place of the right response, with its status: `html` a page, with status 200; `no-id` the
 * service without its id; `half-json` half of the JSON, as if that were all; `wrong-type` the right body as plain text.
 */
export type WrongResponse = 'html' | 'no-id' | 'half-json' | 'wrong-type'

/** A proxy before a real server that treats each changing request as configured. */
export interface FaultProxy {
  readonly url: string
  /** Decides over each request that is no GET; everything passes until it is set. */
  decide: (method: string, path: string) => Fault | Promise<Fault>
  /** Whether a request gets 404 instead, whatever its method. */
  refuses: (path: string) => boolean
  /** Whether every request gets 429. */
  throttles: boolean
  /** A refusal that a changing request gets instead of the server's response; `undefined` lets it through. */
  refusesWith: (
    method: string,
    path: string,
  ) => { readonly status: number; readonly error: string; readonly retryAfterSecs?: number } | undefined
  /** Called after a changing request had its effect, before its response goes back. */
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
      respond(outgoing, { status: 429, body: Buffer.from('{"error":"rate_limited"}') })
      return
    }
    if (proxy.refuses(url)) {
      respond(outgoing, { status: 404, body: Buffer.from('{"error":"not_found"}') })
      return
    }
    const refusal = method === 'GET' ? undefined : proxy.refusesWith(method, url)
    if (refusal !== undefined) {
      const { status, error, retryAfterSecs } = refusal
      const headers = retryAfterSecs === undefined ? {} : { 'retry-after': String(retryAfterSecs) }
      respond(outgoing, { status, body: Buffer.from(JSON.stringify({ error })), headers })
      return
    }
    const fault = method === 'GET' ? 'pass' : await proxy.decide(method, url)
    const forward: Forward = async () => {
      const response = await forwarded(target, incoming, body)
      if (method !== 'GET') proxy.afterEffect(method, url)
      return response
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
type Forward = () => Promise<ProxyResponse>

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
      respond(outgoing, { status: 500, body: Buffer.from('{"error":"internal"}') })
      return
    case 'lose':
      await forward()
      outgoing.destroy()
      return
    case 'bad-gateway':
      await forward()
      respond(outgoing, { status: 502, body: Buffer.from('<html>bad gateway</html>') })
      return
    case 'truncate': {
      const whole = await forward()
      outgoing.writeHead(whole.status, { 'content-length': Math.max(1, whole.body.length) })
      outgoing.write(whole.body.subarray(0, whole.body.length / 2), () => outgoing.destroy())
      return
    }
    case 'pass':
      respond(outgoing, await forward())
      return
    default:
      respond(outgoing, wrongResponse(await forward(), fault))
  }
}

interface ProxyResponse {
  readonly status: number
  readonly body: Buffer
  readonly headers?: Readonly<Record<string, string>>
}

function respond(outgoing: ServerResponse, { status, body, headers = {} }: ProxyResponse): void {
  if (outgoing.destroyed) return
  outgoing.writeHead(status, body.length === 0 ? {} : { 'content-type': 'application/json', ...headers })
  outgoing.end(body)
}

function wrongResponse({ status, body }: ProxyResponse, how: WrongResponse): ProxyResponse {
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

function forwarded(target: string, incoming: IncomingMessage, body: Buffer): Promise<ProxyResponse> {
  const { host: _host, connection: _connection, ...headers } = incoming.headers
  return new Promise((resolve, reject) => {
    const outgoing = request(`${target}${incoming.url}`, { method: incoming.method, headers }, (response) => {
      bodyOf(response).then((whole) => resolve({ status: response.statusCode ?? 0, body: whole }), reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
