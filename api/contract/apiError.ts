/**
 * Status of each error, used by the server to respond and by the client to understand. Contract: Errors;
 * 405, 409, 412, 413, 415 and the rest of plain HTTP are Gap G20.
 */
export const STATUS_OF_ERROR = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  rate_limited: 429,
  header_too_large: 431,
  internal: 500,
  bad_gateway: 502,
  unavailable: 503,
  gateway_timeout: 504,
} as const

/** Our name for a kind of error; the contract has only its status. */
export type ErrorCode = keyof typeof STATUS_OF_ERROR

const CODE_OF_STATUS: ReadonlyMap<number, ErrorCode> = new Map(
  Object.entries(STATUS_OF_ERROR).map(([code, status]) => [
    status,
    // True because the keys of STATUS_OF_ERROR are what ErrorCode is made of.
    code as ErrorCode,
  ]),
)

/** The code of `status`; another 4xx reads as `invalid` and everything else as `internal`. Pure. */
export function codeOfStatus(status: number): ErrorCode {
  return CODE_OF_STATUS.get(status) ?? (status >= 400 && status < 500 ? 'invalid' : 'internal')
}

/**
 * An error response of the contract. `message` is the text of the body's one field `error`. Only a failure of the
 * server, a status of 500 or more, has a stack.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly status: number
  /** When to repeat the request (seconds); `undefined` when the code alone says. */
  readonly retryAfterSecs: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options?: ErrorOptions & { readonly status?: number; readonly retryAfterSecs?: number },
  ) {
    const status = options?.status ?? STATUS_OF_ERROR[code]
    // Recording the stack of a refusal, which is never printed, would be an eighth of the server's work for it.
    const { stackTraceLimit } = Error
    if (status < 500) Error.stackTraceLimit = 0
    super(message, options)
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.retryAfterSecs = options?.retryAfterSecs
    this.status = status
  }
}
