import { Token } from 'cdktf'
import type { Construct } from 'constructs'
import type { ServiceEndpoints, ServiceEndpointsHttpBody } from './.gen/service'
import { type Assertion, status } from './assertions.ts'
import { checkedDuration, type Duration } from './duration.ts'
import { jsonText } from './jsonText.ts'
import { literal } from './literal.ts'
import { Secret } from './secret.ts'

/** A value in clear, or a secret with the version that forces it to be sent again. */
type Value = string | { readonly secret: Secret; readonly version: string | undefined }

interface Parts {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly name?: string
  readonly timeout?: Duration
  readonly redirectsMax?: number
  readonly withDns?: boolean
  readonly body?: Value
  readonly headers: ReadonlyMap<string, Value>
  readonly assertions: readonly Assertion[]
  /** Whether a status from 200 to 299 is expected without an assertion on the status. */
  readonly hasStatusDefault: boolean
}

/** Default assertion of endpoints without one on the status: success. */
const SUCCESS: Assertion = status.between(200, 299)

/** Holds for every response: without an assertion on the status, an endpoint is up only below 400. Gap G43. */
const ANY_STATUS: Assertion = status.atLeast(100)

/**
 * A URL to check, with assertions about its response. Immutable: each method returns a new one. Created by
 * `get` and `post`. Defaults are those of the server: 10 s, 10 redirects, cached name resolution.
 */
export class Endpoint {
  readonly #parts: Parts

  /** @internal */
  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Adds assertions about the response. A status from 200 to 299 is expected unless an assertion
   * on the status replaces it, or `expectAnyAnswer` removes it. Throws for empty
   * `assertions`.
   */
  expect(...assertions: readonly Assertion[]): Endpoint {
    if (assertions.length === 0) {
      throw new Error(
        'expect() needs at least one assertion; for an endpoint without any, use expectAnyAnswer()',
      )
    }
    return this.#with({ assertions: [...this.#parts.assertions, ...assertions] })
  }

  /**
   * Accepts any response, whatever its status, and drops earlier assertions. Assertions that `expect` adds
   * afterwards apply to responses of any status.
   */
  expectAnyAnswer(): Endpoint {
    return this.#with({ assertions: [ANY_STATUS] })
  }

  /** Adds no assertion on the status: without one the server expects a status below 400. */
  withoutStatusDefault(): Endpoint {
    return this.#with({ hasStatusDefault: false })
  }

  /** Name of the endpoint, which incidents and the console show beside the URL. */
  named(name: string): Endpoint {
    return this.#with({ name })
  }

  /** Time limit of the whole check, up to a minute: `10s`, `1.5s`. Throws for a string that is not a duration. */
  timeout(timeout: Duration): Endpoint {
    return this.#with({ timeout: checkedDuration(timeout) })
  }

  /** Maximum of redirects to follow; 0 checks the redirect itself. Throws for NaN, which would be left out. */
  followRedirects(redirectsMax: number): Endpoint {
    if (Number.isNaN(redirectsMax)) throw new Error('followRedirects() needs a number, not NaN')
    return this.#with({ redirectsMax })
  }

  /** Whether each check resolves the name again (server's default: false). */
  withDns(withDns = true): Endpoint {
    return this.#with({ withDns })
  }

  /** A header of the request, in clear: it is in the state and in plans. */
  header(name: string, value: string): Endpoint {
    return this.#withHeader(name, value)
  }

  /** A header that the server encrypts. A changed value is detected; another `version` sends the same value again. */
  secretHeader(name: string, secret: Secret, version?: string): Endpoint {
    return this.#withHeader(name, { secret, version })
  }

  /** The body of the request, in clear: it is in the state and in plans. */
  body(text: string): Endpoint {
    return this.#with({ body: checkedValue(text, 'body') })
  }

  /** A body that the server encrypts. A changed value is detected; another `version` sends the same value again. */
  secretBody(secret: Secret, version?: string): Endpoint {
    return this.#with({ body: checkedValue({ secret, version }, 'body') })
  }

  /**
   * A JSON body, in clear, with its `Content-Type` unless there is one. Throws when `value` contains a token, which has to be
   * encoded by Terraform, as in `.body(Fn.jsonencode(…))`, and for a value that
   * JSON does not have, such as a Map, at any depth.
   */
  json(value: unknown): Endpoint {
    if (hasToken(value)) throw new Error('a token cannot be JSON yet: use .body(Fn.jsonencode(…))')
    const encoded = jsonText(value)
    const typed = this.#hasHeader('content-type') ? this : this.header('Content-Type', 'application/json')
    return typed.body(literal(encoded))
  }

  /** @internal This endpoint in the form of the bindings, in the stack of `scope`. */
  in(scope: Construct): ServiceEndpoints {
    const { url, method, name, timeout, redirectsMax, withDns, body, headers } = this.#parts
    const { assertions: given, hasStatusDefault } = this.#parts
    const isStatusFree = !given.some((assertion) => assertion.statusCode !== undefined)
    const assertions = isStatusFree && hasStatusDefault ? [SUCCESS, ...given] : given
    const valueIn = (value: Value) => bindingValue(value, scope)
    return {
      url,
      ...(name === undefined ? {} : { name }),
      http: {
        method,
        ...(timeout === undefined ? {} : { timeout }),
        ...(redirectsMax === undefined ? {} : { maxRedirects: redirectsMax }),
        ...(withDns === undefined ? {} : { withDns }),
        ...(body === undefined ? {} : { body: valueIn(body) }),
        ...(headers.size === 0
          ? {}
          : { headers: Object.fromEntries([...headers].map(([key, value]) => [key, valueIn(value)])) }),
      },
      ...(assertions.length === 0 ? {} : { assertions: [...assertions] }),
    }
  }

  #with(parts: Partial<Parts>): Endpoint {
    return new Endpoint({ ...this.#parts, ...parts })
  }

  #hasHeader(name: string): boolean {
    return [...this.#parts.headers.keys()].some((key) => key.toLowerCase() === name.toLowerCase())
  }

  /** Replaces the header of that name, which is case-insensitive. */
  #withHeader(name: string, value: Value): Endpoint {
    const others = [...this.#parts.headers].filter(([key]) => key.toLowerCase() !== name.toLowerCase())
    return this.#with({ headers: new Map([...others, [name, checkedValue(value, `header "${name}"`)]]) })
  }
}

/**
 * `value`, which may come from a file that no compiler has checked, or be a token such as the value of a variable.
 * Throws when it is neither a string nor a secret.
 */
function checkedValue(value: Value, place: string): Value {
  if (Token.isUnresolved(value)) return Token.asString(value)
  if (typeof value === 'string' || value?.secret instanceof Secret) return value
  throw new Error(`the value of the ${place} is neither a string nor a secret`)
}

function bindingValue(value: Value, scope: Construct): ServiceEndpointsHttpBody {
  if (typeof value === 'string') return { value }
  const { secret, version } = value
  return { valueWo: secret.in(scope), ...(version === undefined ? {} : { valueWoVersion: version }) }
}

function hasToken(value: unknown): boolean {
  if (Token.isUnresolved(value)) return true
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(hasToken)
}

/** An endpoint that is checked with GET; by default a status from 200 to 299 is expected. */
export function get(url: string): Endpoint {
  return endpoint('GET', url)
}

/** An endpoint that is checked with POST; by default a status from 200 to 299 is expected. */
export function post(url: string): Endpoint {
  return endpoint('POST', url)
}

function endpoint(method: Parts['method'], url: string): Endpoint {
  return new Endpoint({ url, method, headers: new Map(), assertions: [], hasStatusDefault: true })
}
