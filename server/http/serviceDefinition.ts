import { setImmediate } from 'node:timers/promises'
import { RE2JS } from 're2js'
import type { Assertion, StringMatcher } from '../../api/contract/assertion.ts'
import { type Problem, problemsOf } from '../../api/contract/problem.ts'
import { HEADERS_MAX } from '../../api/contract/requestHeaders.ts'
import { endpointInputSchema, type ServiceRequest, serviceRequestSchema } from '../../api/contract/service.ts'
import { isRegionCode, REGIONS } from '../domain/regions.ts'
import type { Exchange } from './operation.ts'
import { invalid, readBody } from './requestBody.ts'

/** More endpoints than the largest plan has in one service, and regions than there are: fewer are cheap to look at. */
const CROWD = 100
/** Longest that the patterns of one request keep all others waiting (milliseconds). */
const TURN_MS = 10

/** The service definition of a create or replace. Rejects with `invalid`. Contract: Service, request; Gap G18. */
export async function readServiceDefinition(exchange: Exchange): Promise<ServiceRequest> {
  const early = crowdProblem(exchange.body)
  if (early !== undefined) throw invalid(early)
  const request = readBody(serviceRequestSchema, exchange)
  const problem = regionProblem(request) ?? (await patternProblem(request))
  if (problem !== undefined) throw invalid(problem)
  return request
}

/**
 * What is wrong with very many regions or headers, or the first bad endpoint of very many. The schema would find out
 * what is wrong with each of them, which takes seconds and a gigabyte for a body full of empty ones, to tell of the first.
 */
function crowdProblem(body: unknown): Problem | undefined {
  const { regions, endpoints }: Record<string, unknown> = Object(body)
  if (Array.isArray(regions) && regions.length > CROWD) {
    return { path: ['regions'], message: `must have at most ${REGIONS.length} regions: there are no more` }
  }
  if (!Array.isArray(endpoints)) return undefined
  const isCrowd = endpoints.length > CROWD
  for (const [index, endpoint] of endpoints.entries()) {
    const problem = headersProblem(endpoint) ?? (isCrowd ? endpointProblem(endpoint) : undefined)
    if (problem !== undefined) return { ...problem, path: ['endpoints', index, ...problem.path] }
  }
  return undefined
}

function headersProblem(endpoint: unknown): Problem | undefined {
  const headers: unknown = Object(Object(Object(endpoint).call).Http).headers
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return undefined
  if (Object.keys(headers).length <= HEADERS_MAX) return undefined
  return { path: ['call', 'Http', 'headers'], message: `must have at most ${HEADERS_MAX} headers` }
}

function endpointProblem(endpoint: unknown): Problem | undefined {
  const { error } = endpointInputSchema.safeParse(endpoint)
  return error === undefined ? undefined : problemsOf(error)[0]
}

function regionProblem(request: ServiceRequest): Problem | undefined {
  const unknown = request.regions.findIndex((code) => !isRegionCode(code))
  return unknown === -1
    ? undefined
    : { path: ['regions', unknown], message: 'is not a region: GET /v1/regions lists them' }
}

/** A body has room for patterns that take many seconds to compile: others get their turn in between. */
async function patternProblem(request: ServiceRequest): Promise<Problem | undefined> {
  const compiled = new Set<string>()
  let turnEndsMs = performance.now() + TURN_MS
  for (const { pattern, path } of patternsOf(request)) {
    if (compiled.has(pattern)) continue
    if (!compiles(pattern)) {
      const message =
        'is not a regular expression in RE2 syntax (no look-around, no back-references, repetitions up to 1000)'
      return { path, message }
    }
    compiled.add(pattern)
    if (performance.now() >= turnEndsMs) {
      await setImmediate()
      turnEndsMs = performance.now() + TURN_MS
    }
  }
  return undefined
}

function* patternsOf(request: ServiceRequest): Generator<{ pattern: string; path: Problem['path'] }> {
  for (const [endpoint, { assertions }] of request.endpoints.entries()) {
    for (const [index, assertion] of assertions.entries()) {
      const found = matcherOf(assertion)
      if (found !== undefined && 'Regex' in found.matcher) {
        const path = ['endpoints', endpoint, 'assertions', index, found.kind, 'matcher', 'Regex']
        yield { pattern: found.matcher.Regex, path }
      }
    }
  }
}

function matcherOf(assertion: Assertion): { kind: string; matcher: StringMatcher } | undefined {
  if ('Header' in assertion) return { kind: 'Header', matcher: assertion.Header.matcher }
  if ('Body' in assertion) return { kind: 'Body', matcher: assertion.Body.matcher }
  return undefined
}

function compiles(pattern: string): boolean {
  try {
    RE2JS.compile(pattern)
    return true
  } catch {
    // Every failure of the compiler is a statement about the pattern, which its message would quote.
    return false
  }
}
