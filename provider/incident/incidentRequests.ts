/** The rules of the contract for incidents, in terms of attributes. Handlers load this file only when they run. */
import type * as z from 'zod'
import { incidentRequestSchema, incidentUpdateRequestSchema } from '../../api/contract/incident.ts'
import { type Problem, problemsOf } from '../../api/contract/problem.ts'
import type { ConfigOf } from '../protocol/authoring/inferred.ts'
import { UNKNOWN, type Unknown } from '../protocol/values/value.ts'
import { type incidentSchema, RESOLVE_MESSAGE } from './schema.ts'

type Config = ConfigOf<typeof incidentSchema>

/** An attribute, and the rest of a sentence about it. */
type AttributeProblem = readonly [attribute: string, predicate: string]

const orElse = <T>(value: T | Unknown, standIn: T): T => (value === UNKNOWN ? standIn : value)

/** The problems of `value`; `attributeOf` names the attribute for each. */
function checked(
  schema: z.ZodType,
  value: object,
  attributeOf: (problem: Problem) => string,
): readonly AttributeProblem[] {
  const { error } = schema.safeParse(value)
  return error === undefined
    ? []
    : problemsOf(error).map((problem) => [attributeOf(problem), problem.message] as const)
}

/** Problems of the known parts of `config`, as pairs of an attribute and the rest of a sentence about it. Pure. */
export function problemsIn(config: Config): readonly AttributeProblem[] {
  const someId = '00000000-0000-4000-8000-000000000000'
  const request = {
    title: orElse(config.title, 'unknown'),
    message: 'checked below',
    severity: orElse(config.severity, 'partial_outage'),
    service_ids:
      config.service_ids === UNKNOWN ? [someId] : config.service_ids.map((id) => orElse(id, someId)),
  }
  // A changed message is posted as an update (Gap G36).
  const update = {
    body: orElse(config.message, 'unknown'),
    status: orElse(config.status, null) ?? 'investigating',
  }
  const resolving = { body: orElse(config.resolve_message, null) ?? RESOLVE_MESSAGE, status: 'resolved' }
  return [
    ...checked(incidentRequestSchema, request, ({ path }) => String(path[0])),
    ...checked(incidentUpdateRequestSchema, update, updateAttribute),
    ...checked(incidentUpdateRequestSchema, resolving, () => 'resolve_message'),
  ]
}

/** The attributes of a separate update. */
interface UpdateConfig {
  readonly message: string | Unknown
  readonly status: string | Unknown
  readonly severity: string | null | Unknown
}

/** Problems of the known parts of an update, as pairs of an attribute and the rest of a sentence about it. Pure. */
export function updateProblemsIn({ message, status, severity }: UpdateConfig): readonly AttributeProblem[] {
  const update = {
    body: orElse(message, 'unknown'),
    status: orElse(status, 'investigating'),
    severity: orElse(severity, null) ?? undefined,
  }
  return checked(incidentUpdateRequestSchema, update, updateAttribute)
}

function updateAttribute({ path: [field] }: Problem): string {
  return field === 'body' ? 'message' : String(field)
}
