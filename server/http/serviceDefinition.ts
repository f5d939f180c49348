import { RE2JS } from 're2js'
import type { Assertion, StringMatcher } from '../../api/contract/assertion.ts'
import type { Problem } from '../../api/contract/problem.ts'
import { type ServiceRequest, serviceRequestSchema } from '../../api/contract/service.ts'
import { isRegionCode } from '../domain/regions.ts'
import type { Exchange } from './operation.ts'
import { invalid, readBody } from './requestBody.ts'

/** The service definition of a create or replace. Throws `invalid`. Contract: Service, request; Gap G18. */
export function readServiceDefinition(exchange: Exchange): ServiceRequest {
  const request = readBody(serviceRequestSchema, exchange)
  const problem = regionProblem(request) ?? patternProblem(request)
  if (problem !== undefined) throw invalid(problem)
  return request
}

function regionProblem(request: ServiceRequest): Problem | undefined {
  const unknown = request.regions.findIndex((code) => !isRegionCode(code))
  return unknown === -1
    ? undefined
    : { path: ['regions', unknown], message: 'is not a region: GET /v1/regions lists them' }
}

function patternProblem(request: ServiceRequest): Problem | undefined {
  for (const [endpoint, { assertions }] of request.endpoints.entries()) {
    for (const [index, assertion] of assertions.entries()) {
      const found = matcherOf(assertion)
      if (found !== undefined && 'Regex' in found.matcher && !compiles(found.matcher.Regex)) {
        const path = ['endpoints', endpoint, 'assertions', index, found.kind, 'matcher', 'Regex']
        const message =
          'is not a regular expression in RE2 syntax (no look-around, no back-references, repetitions up to 1000)'
        return { path, message }
      }
    }
  }
  return undefined
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
