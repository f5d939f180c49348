/** A request that is refused: what is wrong and what to do, for its sender. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>

  constructor(statusCode: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.statusCode = statusCode
    this.headers = headers
  }
}

/** For an address that sent too many wrong requests. */
export function tooManyRequests(): Refusal {
  return new Refusal(429, 'too many requests', { 'Retry-After': '1' })
}
