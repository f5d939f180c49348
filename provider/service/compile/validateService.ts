import { type Assertion, assertionParts } from '../../../api/contract/assertion.ts'
import { problemsOf } from '../../../api/contract/problem.ts'
import { suggestsSecret } from '../../../api/contract/requestHeaders.ts'
import { serviceRequestSchema } from '../../../api/contract/service.ts'
import { type Diagnostic, warningAt } from '../../protocol/authoring/diagnostics.ts'
import { formatPath, type Path } from '../../protocol/values/path.ts'
import { UNKNOWN } from '../../protocol/values/value.ts'
import { KINDS } from '../schema/assertionKinds.ts'
import { attributePath } from '../schema/attributePath.ts'
import type { ServiceConfig } from '../schema/config.ts'
import { problemAt } from './compileAssertion.ts'
import { type Compiled, compileService } from './compileService.ts'

/**
 * Errors and warnings about the known parts of `config`, each with the path of its attribute: first about its form,
 * then about the rules of the contract. Regions and plan limits are not checked here. Pure; never quotes a value.
 */
export function validateService(config: ServiceConfig): readonly Diagnostic[] {
  const compiled = compileService(config)
  const problems = [...compiled.problems, ...contractProblems(compiled)]
  // Warnings are left out when there is an error.
  const doubts = problems.length > 0 ? [] : doubtfulAssertions(compiled)
  return [...problems, ...plainSecrets(config), ...doubts]
}

function contractProblems({ request, secrets }: Compiled): readonly Diagnostic[] {
  const parsed = serviceRequestSchema.safeParse(request)
  if (parsed.success) return []
  const problems = problemsOf(parsed.error).map(({ path, message }) => {
    const at = attributePath(path)
    const secret = secrets.find((candidate) => samePath(candidate.path.slice(0, -1), at.slice(0, -1)))
    const place = secret !== undefined && at.at(-1) === 'value' ? secret.path : at
    return problemAt(place, message)
  })
  // A number may break two similar rules, being too large for JavaScript and for the API.
  return [...new Map(problems.map((problem) => [problem.detail, problem])).values()]
}

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((step, index) => stepText(step) === stepText(b[index] ?? ''))
}

function stepText(step: Path[number]): string {
  return typeof step === 'object' ? `{${step.key}}` : String(step)
}

/** Warnings for headers whose name suggests a secret and whose value would be stored in plain text. */
function plainSecrets(config: ServiceConfig): readonly Diagnostic[] {
  if (config.endpoints === UNKNOWN) return []
  return config.endpoints.flatMap((endpoint, index) => {
    if (endpoint === UNKNOWN || endpoint.http === UNKNOWN) return []
    const { headers } = endpoint.http
    if (headers === UNKNOWN || headers === null) return []
    return [...headers].flatMap(([name, header]) => {
      if (header === UNKNOWN || header.value === null || !suggestsSecret(name)) return []
      const path: Path = ['endpoints', index, 'http', 'headers', { key: name }, 'value']
      const detail = `${formatPath(path)} is stored in clear text in the state. Use value_wo to keep it secret.`
      return [warningAt(path, 'This header looks like a secret', detail)]
    })
  })
}

/** Warnings for assertions that the contract allows, but that are probably a mistake. */
function doubtfulAssertions({ request }: Compiled): readonly Diagnostic[] {
  return request.endpoints.flatMap((endpoint, index) =>
    endpoint.assertions.flatMap((assertion, place) =>
      doubtOf(assertion, ['endpoints', index, 'assertions', place, KINDS[assertionParts(assertion).kind]]),
    ),
  )
}

/** Warnings for a status code that no server sends, and for an impossible time. A service with one can be imported. */
function doubtOf(assertion: Assertion, path: Path): readonly Diagnostic[] {
  const { operators, operator } = assertionParts(assertion)
  if (operators === 'integer' && !Object.values(operator).flat().every(isSent)) {
    const detail = `${formatPath(path)} contains a status that no server sends: statuses are between 100 and 599.`
    return [warningAt(path, 'Unusual status code', detail)]
  }
  if (operators !== 'duration' || !('LessThan' in operator)) return []
  const { secs, nanos } = operator.LessThan
  if (secs > 0 || nanos > 0) return []
  const at: Path = [...path, 'lt']
  const detail = `${formatPath(at)} is 0s, and no time is shorter: the assertion fails in every check.`
  return [warningAt(at, 'This assertion never holds', detail)]
}

function isSent(status: number): boolean {
  return status >= 100 && status <= 599
}
