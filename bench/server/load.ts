import { connect, type Socket } from 'node:net'

/** Result of a load. */
export interface LoadReport {
  readonly requestsPerSecond: number
  readonly requests: number
  /** Number of responses with a status outside 200 to 299. */
  readonly errors: number
  /** 50th and 99th percentile of the response time (milliseconds). */
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Load {
  readonly port: number
  readonly connections: number
  /** Whole requests, head and body, in ASCII; `index` counts from 0, and so does `connection`. */
  readonly request: (index: number, connection: number) => string
  readonly requests: number
}

/**
 * Sends requests over keep-alive connections, one at a time on each. Written on raw sockets, because a client library
 * costs more than the server and would dominate the measurement.
 */
export async function runLoad({ port, connections, request, requests }: Load): Promise<LoadReport> {
  let next = 0
  let errors = 0
  const times: number[] = []
  const started = performance.now()
  const worker = (socket: Socket, connection: number): Promise<void> =>
    new Promise((resolve, reject) => {
      let received = ''
      let sentAt = 0
      const send = (): void => {
        if (next >= requests) {
          socket.end()
          resolve()
          return
        }
        sentAt = performance.now()
        socket.write(request(next++, connection), 'latin1')
      }
      socket.setEncoding('latin1')
      socket.on('data', (chunk: string) => {
        received += chunk
        const length = responseLength(received)
        if (length === undefined || received.length < length) return
        times.push(performance.now() - sentAt)
        if (!received.startsWith('HTTP/1.1 2')) errors += 1
        received = received.slice(length)
        send()
      })
      socket.on('error', reject)
      socket.on('connect', send)
    })
  // Each response would have to wake a sleeping load, which only a server slower than the load would pay for.
  let isOver = false
  const stayAwake = (): void => {
    if (!isOver) setImmediate(stayAwake)
  }
  stayAwake()
  await Promise.all(
    Array.from({ length: connections }, (_, connection) =>
      worker(connect({ port, host: '127.0.0.1', noDelay: true }), connection),
    ),
  )
  isOver = true
  const seconds = (performance.now() - started) / 1_000
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return {
    requestsPerSecond: times.length / seconds,
    requests: times.length,
    errors,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
}

/** Length of the first response in `text`, head and body; `undefined` while its head is incomplete. */
function responseLength(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1) return undefined
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? '0'
  return head + 4 + Number(length)
}
