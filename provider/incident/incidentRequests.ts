/** The requests for an incident, validated by the contract. Handlers load this file only when they run. */
import {
  type IncidentRequest,
  type IncidentUpdateRequest,
  incidentRequestSchema,
  incidentUpdateRequestSchema,
} from '../../api/contract/incident.ts'
import { problemsOf } from '../../api/contract/problem.ts'
import type { ConfigOf } from '../protocol/authoring/inferred.ts'
import { UNKNOWN, type Unknown } from '../protocol/values/value.ts'
import { type incidentSchema, RESOLVE_MESSAGE } from './schema.ts'

type Config = ConfigOf<typeof incidentSchema>

/** The request that opens an incident. Throws for an invalid configuration. Pure. */
export function openingOf(body: { readonly [field in keyof IncidentRequest]: unknown }): IncidentRequest {
  return incidentRequestSchema.parse(body)
}

/** The request that posts an update. Throws for an invalid configuration. Pure. */
export function updateOf(
  body: {
    readonly [field in keyof IncidentUpdateRequest]: unknown
  },
): IncidentUpdateRequest {
  return incidentUpdateRequestSchema.parse(body)
}

/** Problems of the known parts of `config`, as pairs of an attribute and the rest of a sentence about it. Pure. */
export function problemsIn(config: Config): readonly (readonly [string, string])[] {
  const orElse = <T>(value: T | Unknown, standIn: T): T => (value === UNKNOWN ? standIn : value)
  const someId = '00000000-0000-4000-8000-000000000000'
  const request = incidentRequestSchema.safeParse({
    title: orElse(config.title, 'unknown'),
    message: 'checked below',
    severity: orElse(config.severity, 'partial_outage'),
    service_ids:
      config.service_ids === UNKNOWN ? [someId] : config.service_ids.map((id) => orElse(id, someId)),
  })
  // A changed message is posted as an update (Gap G36).
  const update = incidentUpdateRequestSchema.safeParse({
    body: orElse(config.message, 'unknown'),
    status: orElse(config.status, null) ?? 'investigating',
  })
  const resolving = incidentUpdateRequestSchema.safeParse({
    body: orElse(config.resolve_message, null) ?? RESOLVE_MESSAGE,
    status: 'resolved',
  })
  return [
    ...(request.success ? [] : problemsOf(request.error)).map(
      ({ path, message }) => [String(path[0]), message] as const,
    ),
    ...(update.success ? [] : problemsOf(update.error)).map(
      ({ path, message }) => [path[0] === 'body' ? 'message' : 'status', message] as const,
    ),
    ...(resolving.success ? [] : problemsOf(resolving.error)).map(
      ({ message }) => ['resolve_message', message] as const,
    ),
  ]
}

/** The attributes of a separate update. */
interface UpdateConfig {
  readonly message: string | Unknown
  readonly status: string | Unknown
  readonly severity: string | null | Unknown
}

/** Problems of the known parts of an update, as pairs of an attribute and the rest of a sentence about it. Pure. */
export function updateProblemsIn({
  message,
  status,
  severity,
}: UpdateConfig): readonly (readonly [string, string])[] {
  const checked = incidentUpdateRequestSchema.safeParse({
    body: message === UNKNOWN ? 'unknown' : message,
    status: status === UNKNOWN ? 'investigating' : status,
    ...(severity === null || severity === UNKNOWN ? {} : { severity }),
  })
  return (checked.success ? [] : problemsOf(checked.error)).map(
    ({ path, message: problem }) => [path[0] === 'body' ? 'message' : String(path[0]), problem] as const,
  )
}
