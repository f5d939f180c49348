/** A refused request, with a message for its sender. */
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

/** The refusal for an address that sent too many invalid requests. */
export function tooManyRequests(): Refusal {
  return new Refusal(429, 'too many requests', { 'Retry-After': '1' })
}
