import { type Assertion, assertionOf, assertionParts, type Comparison } from './assertion.ts'
import type { Duration } from './duration.ts'
import type {
  CallInput,
  CallOutput,
  EndpointInput,
  Method,
  SensitiveInput,
  ServiceRequest,
  ServiceResponse,
} from './service.ts'
import { variantOf } from './tagged.ts'

/**
 * A value that may be sealed, in comparable form: in clear, or a fingerprint of the secret. A response has its `key_id`
 * in place of a fingerprint: it is never compared with that of a request.
 */
export type CanonicalSensitive = { readonly plain: string } | { readonly sealed: string }

/** Fingerprint of an unknown secret: equal to any other. */
export const UNKNOWN_FINGERPRINT = 'unknown'

/** A service in the form for comparisons: contract names, absent as null, sets in order, header names in lower case. */
export interface CanonicalService {
  readonly name: string
  readonly interval_secs: number
  readonly regions: readonly string[]
  readonly endpoints: readonly CanonicalEndpoint[]
}

export interface CanonicalEndpoint {
  readonly url: string
  readonly name: string | null
  readonly call: { readonly Http: CanonicalHttp }
  readonly assertions: readonly Assertion[]
}

export interface CanonicalHttp {
  readonly method: Method
  readonly body: CanonicalSensitive | null
  readonly headers: Readonly<Record<string, CanonicalSensitive>> | null
  readonly max_redirects_to_follow: number | null
  readonly with_dns: boolean | null
  readonly timeout: Duration | null
}

/** Returns the fingerprint of the secret at `pointer` (JSON pointer into the canonical service) for comparisons. */
export type Fingerprint = (pointer: string, value: string) => string

/**
 * The canonical form of a request. `fingerprint` is called with each sensitive value, so that the
 * secret itself never becomes part of a value that may be printed or stored. Pure if `fingerprint` is.
 */
export function canonicalRequest(request: ServiceRequest, fingerprint: Fingerprint): CanonicalService {
  return canonicalService(request, (call: CallInput, index) => {
    const at = `/endpoints/${index}/call/Http`
    const sealed = (pointer: string, input: SensitiveInput): CanonicalSensitive =>
      input.sensitive === true ? { sealed: fingerprint(pointer, input.value) } : { plain: input.value }
    const { body, headers } = call.Http
    return {
      body: body == null ? null : sealed(`${at}/body`, body),
      headers: canonicalHeaders(headers, (name, input) => sealed(`${at}/headers/${name}`, input)),
    }
  })
}

/** The canonical form of a response; sealed values are identified by their `key_id`. Pure. */
export function canonicalResponse(response: ServiceResponse): CanonicalService {
  return canonicalService(response, (call: CallOutput) => ({
    body: call.Http.body == null ? null : canonicalOutput(call.Http.body),
    headers: canonicalHeaders(call.Http.headers, (_name, output) => canonicalOutput(output)),
  }))
}

type Output = NonNullable<CallOutput['Http']['body']>

function canonicalOutput(output: Output): CanonicalSensitive {
  return 'Plain' in output ? { plain: output.Plain } : { sealed: output.Sealed.key_id }
}

interface Definition<Call> extends Omit<ServiceRequest, 'endpoints'> {
  readonly endpoints: readonly (Omit<EndpointInput, 'call'> & { readonly call: Call })[]
}

function canonicalService<Call extends CallInput | CallOutput>(
  definition: Definition<Call>,
  sensitiveOf: (call: Call, index: number) => Pick<CanonicalHttp, 'body' | 'headers'>,
): CanonicalService {
  return {
    name: definition.name,
    interval_secs: definition.interval_secs,
    regions: [...definition.regions].sort(),
    endpoints: definition.endpoints.map((endpoint, index) => {
      const http = endpoint.call.Http
      return {
        url: endpoint.url,
        name: endpoint.name ?? null,
        call: {
          Http: {
            method: http.method,
            ...sensitiveOf(endpoint.call, index),
            max_redirects_to_follow: http.max_redirects_to_follow ?? null,
            with_dns: http.with_dns ?? null,
            timeout: http.timeout,
          },
        },
        assertions: endpoint.assertions.map(canonicalAssertion),
      }
    }),
  }
}

function canonicalHeaders<Value>(
  headers: Readonly<Record<string, Value>> | null | undefined,
  canonical: (name: string, value: Value) => CanonicalSensitive,
): CanonicalHttp['headers'] {
  const entries = Object.entries(headers ?? {})
  // No headers and an empty object make the same request.
  if (entries.length === 0) return null
  return Object.fromEntries(
    entries
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, canonical(name, value)]),
  )
}

function canonicalAssertion(assertion: Assertion): Assertion {
  const parts = assertionParts(assertion)
  if (parts.operators !== 'integer') return assertion
  return assertionOf({ ...parts, operator: canonicalComparison(parts.operator) })
}

function canonicalComparison(comparison: Comparison): Comparison {
  const { kind, payload } = variantOf(comparison)
  switch (kind) {
    case 'OneOf':
      return { OneOf: [...new Set(payload)].sort((a, b) => a - b) }
    case 'Eq':
    case 'NotEq':
    case 'GreaterThan':
    case 'GreaterOrEqual':
    case 'LessThan':
    case 'LessOrEqual':
    case 'Between':
      return comparison
  }
}
