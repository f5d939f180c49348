import type { Method } from '../../../api/contract/service.ts'

/** A value of a request, and whether it was sealed. */
export interface RequestValue {
  readonly value: string
  readonly isSealed: boolean
}

/** A header of a request. */
export interface RequestHeader extends RequestValue {
  readonly name: string
}

/** One request of a check: the first one, or one after a redirect. */
export interface RequestHop {
  readonly url: URL
  readonly method: Method
  readonly headers: readonly RequestHeader[]
  readonly body: RequestValue | null
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** The port of `url`. Pure. */
export function portOf(url: URL): number {
  return url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port)
}

/**
 * The host name of `hop` for SNI and the certificate: its Host header, if there is one, or else the host of its URL.
 * Pure.
 */
export function serverNameOf(hop: RequestHop): string {
  const host = headerOf(hop, 'host')
  const name = host === undefined ? hop.url.hostname : host.replace(/:\d*$/, '')
  return name.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

/** That name for display: the host of the URL when the Host header is sealed. Pure. */
export function shownServerNameOf(hop: RequestHop): string {
  return serverNameOf({ ...hop, headers: hop.headers.filter(({ isSealed }) => !isSealed) })
}

/**
 * The bytes of `hop`. Headers that the check does not set request an uncompressed response over its own connection.
 * Pure.
 */
export function requestBytes(hop: RequestHop, userAgent: string): Buffer {
  const { url, method, headers, body } = hop
  const own: [name: string, value: string][] = [
    ['Host', url.host],
    ['User-Agent', userAgent],
    ['Accept', '*/*'],
    ['Accept-Encoding', 'identity'],
  ]
  const sent = own.filter(([name]) => headerOf(hop, name.toLowerCase()) === undefined)
  for (const { name, value } of headers) sent.push([name, value])
  const payload = Buffer.from(body?.value ?? '', 'utf8')
  if (body !== null || method === 'POST') sent.push(['Content-Length', String(payload.length)])
  sent.push(['Connection', 'close'])
  const lines = sent.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = Buffer.from(`${method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines}\r\n`, 'latin1')
  return payload.length === 0 ? head : Buffer.concat([head, payload])
}

function headerOf({ headers }: RequestHop, name: string): string | undefined {
  return headers.find((header) => header.name.toLowerCase() === name)?.value
}
