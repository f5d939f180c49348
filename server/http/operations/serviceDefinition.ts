import { RE2JS } from 're2js'
import { regexOf } from '../../../api/contract/assertion.ts'
import { PATTERN_COST_MAX, PATTERNS_COST_MAX, patternCost } from '../../../api/contract/patternCost.ts'
import type { Problem } from '../../../api/contract/problem.ts'
import { HEADERS_MAX } from '../../../api/contract/requestHeaders.ts'
import {
  endpointInputSchema,
  type ServiceRequest,
  serviceRequestSchema,
} from '../../../api/contract/service.ts'
import { isRegionCode, REGIONS } from '../../domain/regions.ts'
import { invalidBody } from '../transport/invalidBody.ts'
import { inSlices, Slices } from '../transport/slices.ts'
import { type BodyExchange, readBody } from './requestBody.ts'
import { readInSlices } from './schemaRead.ts'

/**
 * More endpoints than the largest plan allows in one service, and more regions than exist. Smaller numbers are cheap to
 * check.
 */
const CROWD = 100
/** Maximum number of sensitive values in one definition. Gap G40. */
const SENSITIVE_MAX = 500

/** Reads the service definition of a create or replace. Rejects with `invalid`. Contract: Service, request; Gap G18. */
export async function readServiceDefinition(exchange: BodyExchange): Promise<ServiceRequest> {
  const { body, yieldTurn } = exchange
  const early = await inSlices(crowdProblem(body, new Slices()), yieldTurn)
  if (early !== undefined) throw invalidBody(early)
  const request = await readBody(serviceRequestSchema, exchange)
  const problem =
    regionProblem(request) ??
    sensitiveProblem(request) ??
    (await inSlices(patternProblem(request, new Slices()), yieldTurn))
  if (problem !== undefined) throw invalidBody(problem)
  return request
}

/**
 * Too many regions or headers, or the first bad endpoint of very many. This problem is reported before any other,
 * because checking the fields in front of it first would take too long.
 */
function* crowdProblem(body: unknown, slices: Slices): Generator<void, Problem | undefined> {
  const { regions, endpoints }: Record<string, unknown> = Object(body)
  if (Array.isArray(regions) && regions.length > CROWD) {
    return { path: ['regions'], message: `must have at most ${REGIONS.length} regions: there are no more` }
  }
  if (!Array.isArray(endpoints)) return undefined
  const isCrowd = endpoints.length > CROWD
  for (const [index, endpoint] of endpoints.entries()) {
    if (slices.spend()) yield
    const crowded = headersProblem(endpoint)
    const read =
      isCrowd && crowded === undefined
        ? yield* readInSlices(endpointInputSchema, endpoint, slices)
        : undefined
    const problem = crowded ?? (read !== undefined && 'problem' in read ? read.problem : undefined)
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

function regionProblem(request: ServiceRequest): Problem | undefined {
  const unknown = request.regions.findIndex((code) => !isRegionCode(code))
  return unknown === -1
    ? undefined
    : { path: ['regions', unknown], message: 'is not a region: GET /v1/regions lists them' }
}

/** Sensitive values are limited because they are sealed inside the transaction, which delays other requests. */
function sensitiveProblem({ endpoints }: ServiceRequest): Problem | undefined {
  let count = 0
  for (const { call } of endpoints) {
    const { body, headers } = call.Http
    for (const value of [body, ...Object.values(headers ?? {})]) if (value?.sensitive === true) count += 1
  }
  if (count <= SENSITIVE_MAX) return undefined
  return { path: ['endpoints'], message: `must have at most ${SENSITIVE_MAX} sensitive values together` }
}

/** Other requests run between patterns, because a body can contain some that take seconds to compile. */
function* patternProblem(request: ServiceRequest, slices: Slices): Generator<void, Problem | undefined> {
  const compiled = new Set<string>()
  let allWork = 0
  for (const { pattern, path } of patternsOf(request)) {
    if (compiled.has(pattern)) continue
    const work = patternCost(pattern)
    allWork += work
    if (work > PATTERN_COST_MAX)
      return { path, message: 'is too expensive: use fewer repetitions or classes' }
    if (allWork > PATTERNS_COST_MAX)
      return { path, message: 'is too expensive, together with those before it' }
    if (!compiles(pattern)) {
      const message =
        'is not a regular expression in RE2 syntax (no look-around, no back-references, repetitions up to 1000)'
      return { path, message }
    }
    compiled.add(pattern)
    if (slices.spend(0, work)) yield
  }
  return undefined
}

function* patternsOf(request: ServiceRequest): Generator<{ pattern: string; path: Problem['path'] }> {
  for (const [endpoint, { assertions }] of request.endpoints.entries()) {
    for (const [index, assertion] of assertions.entries()) {
      const regex = regexOf(assertion)
      if (regex !== undefined) {
        yield { pattern: regex.pattern, path: ['endpoints', endpoint, 'assertions', index, ...regex.path] }
      }
    }
  }
}

function compiles(pattern: string): boolean {
  try {
    RE2JS.compile(pattern)
    return true
  } catch {
    // Every failure of the compiler is a problem with the pattern. Its message would quote the pattern, so it is
    // dropped.
    return false
  }
}
