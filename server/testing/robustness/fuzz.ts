import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { type ApiResponse, type ApiClient, apiClient } from '../apiClient.ts'
import { rawExchange } from '../rawExchange.ts'
import { ROUTES, UNKNOWN_ID } from '../routes.ts'
import { serviceBody } from '../serviceBodies.ts'
import { fuzzBody, fuzzBytes, pick } from './fuzzValues.ts'

/** Number of concurrent requests. */
const AT_ONCE = 16

/** Settings of a run. `random` returns numbers from 0 to 1. `key` must have no rate limit. */
export interface FuzzRun {
  readonly url: string
  readonly key: string
  readonly requests: number
  readonly random: () => number
  /** Called periodically with the number of requests that got a response; optional. */
  readonly onResponses?: (requests: number) => void
}

/** Number of responses by status. */
export type FuzzReport = Readonly<Record<string, number>>

/**
 * Sends `requests` random requests. Throws when a response is 5xx or violates the contract, or when the remaining
 * services cannot be listed and read. Hangs when a request gets no response.
 */
export async function fuzz({ url, key, requests, random, onResponses }: FuzzRun): Promise<FuzzReport> {
  const api = apiClient(url, key)
  const ids = [UNKNOWN_ID]
  const counts: Record<string, number> = {}
  const sendOne = async (): Promise<void> => {
    const response =
      random() < 0.03 ? await rawExchange(url, rawRequest(random, key)) : await send(api, random, ids)
    if (response.status >= 500) throw new Error(`a request got ${response.status}: ${response.text}`)
    counts[response.status] = (counts[response.status] ?? 0) + 1
    if (response.status === 201) ids.push(idOf(response))
    if (ids.length > 30) ids.splice(1, 10)
  }
  ids.push(idOf(await api.post('/v1/services', serviceBody())))
  for (let sent = 0; sent < requests; sent += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, requests - sent) }, sendOne))
    onResponses?.(Math.min(sent + AT_ONCE, requests))
  }
  const services = serviceResponseSchema.array().parse((await api.get('/v1/services')).json)
  for (const { id } of services.slice(-20))
    serviceResponseSchema.parse((await api.get(`/v1/services/${id}`)).json)
  return counts
}

function idOf({ json }: ApiResponse): string {
  return typeof json === 'object' && json !== null && 'id' in json ? String(json.id) : UNKNOWN_ID
}

const HEADERS: readonly [Record<string, string>, ...Record<string, string>[]] = [
  {},
  { 'content-type': 'application/json' },
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-encoding': 'br' },
  { prefer: 'handling=strict' },
  { 'if-match': '"1", W/"2", x' },
  { 'idempotency-key': 'k' },
  { 'idempotency-key': ' ' },
  { cookie: 'a=b' },
]

function send(api: ApiClient, random: () => number, ids: readonly string[]): Promise<ApiResponse> {
  const [method, route] = pick<readonly [string, string]>(random, ROUTES)
  const id = ids[Math.floor(random() * ids.length)] ?? UNKNOWN_ID
  const strangeId = pick(random, [
    '%',
    '%00',
    'x'.repeat(5_000),
    '..',
    '%2e%2e',
    id.toUpperCase(),
    `${id}%20`,
    '💥',
  ])
  const path = route.replace(':id', random() < 0.9 ? id : encodeURI(strangeId)) + strangeQuery(random)
  const headers = pick(random, HEADERS)
  if (method === 'GET')
    return api.call(random() < 0.9 ? 'GET' : pick(random, ['PUT', 'OPTIONS', 'POST']), path, { headers })
  if (random() < 0.1) return api.call(method, path, { raw: fuzzBytes(random), headers })
  return api.call(method, path, { json: fuzzBody(random, route, id), headers })
}

function strangeQuery(random: () => number): string {
  if (random() < 0.7) return ''
  const name = pick(random, ['page', 'limit', 'q', 'severity', 'service_id', 'section', '__proto__', '%'])
  const value = pick(random, [
    '',
    '0',
    '9223372036854775808',
    '%00',
    '%ff',
    'é',
    UNKNOWN_ID,
    '1e3',
    'x'.repeat(300),
  ])
  return `?section=active&${name}=${encodeURIComponent(value)}`
}

/** A request that no client would send, after which the server always ends the connection. */
function rawRequest(random: () => number, key: string): string {
  const line = pick(random, [
    'GET /v1/org HTTP/1.1',
    'GET  /v1/org HTTP/1.1',
    'POST /v1/services HTTP/1.0',
    'GET /v1/%zz HTTP/1.1',
    '\u0001\u0002',
    'GET * HTTP/1.1',
    'get /v1/org HTTP/1.1',
    'GET /v1/org HTTP/9.9',
  ])
  const extra = pick(random, [
    '',
    'Content-Length: -1\r\n',
    'Content-Length: 1\r\nContent-Length: 2\r\n',
    'Transfer-Encoding: gzip, chunked, x\r\n',
    'Expect: x\r\n',
    `X: ${'y'.repeat(20_000)}\r\n`,
    'No colon\r\n',
    'X:\u0000\r\n',
  ])
  return `${line}\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n${extra}\r\n`
}
