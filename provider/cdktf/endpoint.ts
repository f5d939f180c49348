import { Token } from 'cdktf'
import type { Construct } from 'constructs'
import type { ServiceEndpoints, ServiceEndpointsHttpBody } from './.gen/service'
import { type Assertion, status } from './assertions.ts'
import { checkedDuration, type Duration } from './duration.ts'
import { jsonText } from './jsonText.ts'
import { literal } from './literal.ts'
import type { Secret } from './secret.ts'

/** A value that everybody may read, or a secret with the version that forces it to be sent again. */
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
  /** Whether a status from 200 to 299 is expected where no assertion is on the status. */
  readonly hasStatusDefault: boolean
}

/** Expected of every endpoint that has no assertion on the status: an answer that is a success. */
const SUCCESS: Assertion = status.between(200, 299)

/** True of every answer: an endpoint without an assertion on the status is up only below 400. Gap G43. */
const ANY_STATUS: Assertion = status.atLeast(100)

/**
 * A URL that is checked, and what has to hold of its answer. Immutable: each method gives another one. Made by
 * `get` and `post`. What is left unsaid is the server's default: 10 s, 10 redirects, names from the cache.
 */
export class Endpoint {
  readonly #parts: Parts

  /** @internal */
  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Adds assertions on the answer; another call adds more. A status from 200 to 299 stays expected until an assertion
   * on the status takes its place, or `expectAnyAnswer` lifts it. Throws when there is no assertion among
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
   * Accepts any answer, whatever its status, and drops the assertions before it. Assertions that `expect` adds
   * afterwards have to hold of an answer of any status.
   */
  expectAnyAnswer(): Endpoint {
    return this.#with({ assertions: [ANY_STATUS] })
  }

  /** Expects no status of its own: where no assertion is on the status either, the server expects one below 400. */
  withoutStatusDefault(): Endpoint {
    return this.#with({ hasStatusDefault: false })
  }

  /** Names the endpoint, for people: incidents and the console show the name beside the URL. */
  named(name: string): Endpoint {
    return this.#with({ name })
  }

  /** Longest time for the whole check, up to a minute: `10s`, `1.5s`. Throws for a text that is no duration. */
  timeout(timeout: Duration): Endpoint {
    return this.#with({ timeout: checkedDuration(timeout) })
  }

  /** Redirects to follow at most; 0 checks the redirect itself. */
  followRedirects(redirectsMax: number): Endpoint {
    return this.#with({ redirectsMax })
  }

  /** Resolves the name anew for each check; `false` says that it is not to be, which is the server's default. */
  withDns(withDns = true): Endpoint {
    return this.#with({ withDns })
  }

  /** A header of the request, in clear: it is in the state and in plans. */
  header(name: string, value: string): Endpoint {
    return this.#withHeader(name, value)
  }

  /** A header that the server encrypts. A changed one is noticed; another `version` sends the same one again. */
  secretHeader(name: string, secret: Secret, version?: string): Endpoint {
    return this.#withHeader(name, { secret, version })
  }

  /** The body of the request, in clear: it is in the state and in plans. */
  body(text: string): Endpoint {
    return this.#with({ body: text })
  }

  /** A body that the server encrypts. A changed one is noticed; another `version` sends the same one again. */
  secretBody(secret: Secret, version?: string): Endpoint {
    return this.#with({ body: { secret, version } })
  }

  /**
   * A JSON body, in clear, with its `Content-Type` unless there is one. Throws when `value` holds what only
   * Terraform knows: that has to be encoded by Terraform, as in `.body(Fn.jsonencode(…))`. Throws for a value that
   * JSON does not have, such as a Map, also inside of others.
   */
  json(value: unknown): Endpoint {
    if (hasToken(value)) throw new Error('a token cannot be JSON yet: use .body(Fn.jsonencode(…))')
    const encoded = jsonText(value)
    const typed = this.#hasHeader('content-type') ? this : this.header('Content-Type', 'application/json')
    return typed.body(literal(encoded))
  }

  /** @internal What the bindings take for this endpoint in the stack of `scope`. */
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

  /** The header of that name, in any case, is replaced. */
  #withHeader(name: string, value: Value): Endpoint {
    const others = [...this.#parts.headers].filter(([key]) => key.toLowerCase() !== name.toLowerCase())
    return this.#with({ headers: new Map([...others, [name, value]]) })
  }
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

/** An endpoint that is checked with GET; a status from 200 to 299 is expected unless the program says otherwise. */
export function get(url: string): Endpoint {
  return endpoint('GET', url)
}

/** An endpoint that is checked with POST; a status from 200 to 299 is expected unless the program says otherwise. */
export function post(url: string): Endpoint {
  return endpoint('POST', url)
}

function endpoint(method: Parts['method'], url: string): Endpoint {
  return new Endpoint({ url, method, headers: new Map(), assertions: [], hasStatusDefault: true })
}
