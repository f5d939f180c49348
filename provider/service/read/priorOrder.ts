import { type Assertion, assertionParts } from '../../../api/contract/assertion.ts'
import { canonicalRequest } from '../../../api/contract/canonical.ts'
import type { EndpointInput, EndpointOutput, ServiceResponse } from '../../../api/contract/service.ts'
import { compileEndpoint } from '../compile/compileService.ts'
import type { EndpointConfig } from '../schema/config.ts'
import { endpointState, type ServiceState } from './toState.ts'

/**
 * `response` with its endpoints, and the assertions of each, in the order of `prior` if they are the same ones, because
 * their order has no meaning in the API. Otherwise the server's order is kept. Pure.
 */
export function inPriorOrder(response: ServiceResponse, prior: ServiceState | undefined): ServiceResponse {
  const before = prior?.endpoints?.map(compiledState) ?? []
  const order = placesOf(
    response.endpoints.map((endpoint) => endpointKey(compiledState(endpointState(endpoint, undefined)))),
    before.map(endpointKey),
  )
  const endpoints = order?.flatMap((place) => response.endpoints[place] ?? []) ?? response.endpoints
  return {
    ...response,
    endpoints: endpoints.map((endpoint, index) => withAssertions(endpoint, before[index]?.assertions ?? [])),
  }
}

function withAssertions(endpoint: EndpointOutput, before: readonly Assertion[]): EndpointOutput {
  const order = placesOf(endpoint.assertions.map(assertionKey), before.map(assertionKey))
  if (order === undefined) return endpoint
  return { ...endpoint, assertions: order.flatMap((place) => endpoint.assertions[place] ?? []) }
}

/**
 * For each key in `wanted` its index in `found`, each index once; `undefined` when the two do not have the same keys.
 */
function placesOf(found: readonly string[], wanted: readonly string[]): readonly number[] | undefined {
  if (found.length !== wanted.length) return undefined
  const free = new Map<string, number[]>()
  for (const [place, key] of found.entries()) free.set(key, [...(free.get(key) ?? []), place])
  const places = wanted.map((key) => free.get(key)?.shift())
  return places.every((place) => place !== undefined) ? places : undefined
}

/** The request for `endpoint` of a state. Sealed values, which a state does not have, are empty. */
function compiledState(endpoint: NonNullable<ServiceState['endpoints']>[number]): EndpointInput {
  // True because a state from a read is a completely known configuration.
  return compileEndpoint(endpoint as EndpointConfig, [], { problems: [], secrets: [] })
}

function endpointKey(endpoint: EndpointInput): string {
  const [canonical] = canonicalRequest(
    { name: '', interval_secs: 0, regions: [], endpoints: [endpoint] },
    () => '',
  ).endpoints
  const assertions = canonical?.assertions.map(assertionKey).sort()
  return JSON.stringify({ ...canonical, assertions })
}

function assertionKey(assertion: Assertion): string {
  const { kind, subject, operator } = assertionParts(assertion)
  // Header names are case-insensitive, and the order of headers has no meaning.
  const values = 'OneOf' in operator ? { OneOf: [...operator.OneOf].sort((a, b) => a - b) } : operator
  return JSON.stringify([kind, subject?.toLowerCase(), values])
}
