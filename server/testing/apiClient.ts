import { type Dispatcher, request } from 'undici'
import { assertDescribed } from './describedResponse.ts'

/** A raw response. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The body parsed as JSON; `undefined` without a body. */
  readonly json: unknown
}

export interface CallOptions {
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent unchanged. */
  readonly raw?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Replaces the client's key; `null` for none. */
  readonly key?: string | null
  /** Replaces the usual connections. */
  readonly dispatcher?: Dispatcher
}

/** Calls one server with one key. Every response passes `assertResponse` and `assertDescribed`. */
export interface ApiClient {
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<ApiResponse>
  readonly get: (path: string, options?: CallOptions) => Promise<ApiResponse>
  readonly post: (path: string, json?: unknown, options?: CallOptions) => Promise<ApiResponse>
  readonly patch: (path: string, json: unknown, options?: CallOptions) => Promise<ApiResponse>
  readonly delete: (path: string, options?: CallOptions) => Promise<ApiResponse>
}

/** A client of the server at `url`. */
export function apiClient(url: string, apiKey: string): ApiClient {
  const call: ApiClient['call'] = async (method, path, options = {}) => {
    const key = options.key === undefined ? apiKey : options.key
    const body = options.json === undefined ? options.raw : JSON.stringify(options.json)
    const response = await request(`${url}${path}`, {
      // True because Node sends any token as a method, although the type lists only the usual ones.
      method: method as 'GET',
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(options.json === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body }),
      ...(options.dispatcher === undefined ? {} : { dispatcher: options.dispatcher }),
    })
    const text = await response.body.text()
    const { statusCode: status, headers } = response
    const apiResponse = { status, headers, text, json: method === 'HEAD' ? undefined : parse(text) }
    if (method !== 'HEAD') {
      assertResponse(apiResponse)
      assertDescribed(method, path, apiResponse)
    }
    return apiResponse
  }
  return {
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, json, options) => call('POST', path, json === undefined ? options : { ...options, json }),
    patch: (path, json, options) => call('PATCH', path, { ...options, json }),
    delete: (path, options) => call('DELETE', path, options),
  }
}

function parse(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text)
}

/**
 * Throws for a response with a status of 400 or more that is not a JSON object with only the string field `error`
 * (C154, Contract: Errors).
 */
export function assertResponse({ status, headers, json }: ApiResponse): void {
  if (status < 400) return
  const isOneField =
    typeof json === 'object' &&
    json !== null &&
    Object.keys(json).length === 1 &&
    'error' in json &&
    typeof json.error === 'string'
  if (!isOneField || headers['content-type'] !== 'application/json; charset=utf-8') {
    throw new Error(`a response of ${status} is not one field error: ${JSON.stringify(json)}`)
  }
}
