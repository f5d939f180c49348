import type { IncomingHttpHeaders } from 'node:http'

/** A request as far as it is known before its body is read. */
export interface RouteHead {
  /** What the `:names` of the path stand for, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** Address of whoever is connected: that of a proxy, where one stands before us. */
  readonly address: string
}

/** A whole request as a route sees it. */
export interface RouteRequest extends RouteHead {
  /** Raw bytes; empty where the route takes none. */
  readonly body: Buffer
}

/** What a route answers. */
export interface RouteAnswer {
  readonly status: number
  /** Content-Type. */
  readonly type: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** One route of the controller's listener. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** `/badge/:file`: a segment that starts with a colon stands for anything without a slash. */
  readonly path: string
  /** Largest body that is read (bytes); none is when absent. */
  readonly bodyBytesMax?: number
  /** Refuses a request before its body is read; null lets it pass. */
  readonly admit?: (head: RouteHead) => RouteAnswer | null
  readonly handle: (request: RouteRequest) => RouteAnswer | Promise<RouteAnswer>
}

/** An answer of JSON. Pure. */
export function json(
  status: number,
  value: object,
  headers: Readonly<Record<string, string>> = {},
): RouteAnswer {
  return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(value)}\n`, headers }
}

/** A refusal: what is wrong, and what to do about it. Pure. */
export function refusal(
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): RouteAnswer {
  return json(status, { error }, headers)
}
