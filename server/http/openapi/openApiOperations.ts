import { INCIDENT_STATUSES, SECTIONS } from '../../../api/contract/incidentTerms.ts'
import { LIMIT_DEFAULT, LIMIT_MAX, SEARCH_CHARS_MAX } from '../operations/incidentQuery.ts'
import { type Json, schemaRef as one, type SchemaName } from './openApiSchemas.ts'

/** Groups of operations. */
export const TAGS = {
  Organisation: 'The organisation of the key, and the regions.',
  Services: 'Monitored services.',
  Incidents: 'Incidents and their updates.',
} as const

/** The description of an operation in the OpenAPI document. */
export interface Description {
  readonly operationId: string
  readonly tag: keyof typeof TAGS
  readonly summary: string
  /** Details beyond the summary. */
  readonly description: string
  readonly request?: SchemaName
  /** Status of success and the schema of its body, if it has one. */
  readonly success: readonly [200 | 201 | 204, Json?]
  readonly parameters?: readonly Json[]
}

const many = (name: SchemaName): Json => ({ type: 'array', items: one(name) })

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
})
/** Headers that several operations take. */
export const PARAMETERS = {
  IdempotencyKey: header(
    'Idempotency-Key',
    'Repeats with the same key and body within 24 hours have no further effect',
  ),
  IfMatch: header('If-Match', 'The ETag that the service must still have'),
  Prefer: header('Prefer', '"handling=strict" refuses unknown fields'),
  PharosOrigin: header(
    'Pharos-Origin',
    'Where the change comes from: repository, commit and path, in the form of a query string',
  ),
} as const
const parameter = (name: keyof typeof PARAMETERS): Json => ({ $ref: `#/components/parameters/${name}` })
const IDEMPOTENCY_KEY = parameter('IdempotencyKey')
/** The precondition of a change; an operation that takes it may respond with 412. */
export const IF_MATCH = parameter('IfMatch')
const PREFER = parameter('Prefer')
const ORIGIN = parameter('PharosOrigin')

const INCIDENT_QUERY: readonly Json[] = [
  { name: 'section', in: 'query', required: true, schema: { type: 'string', enum: SECTIONS } },
  { name: 'q', in: 'query', schema: { type: 'string', maxLength: SEARCH_CHARS_MAX } },
  { name: 'severity', in: 'query', schema: one('Severity') },
  {
    name: 'service_id',
    in: 'query',
    explode: true,
    schema: { type: 'array', items: { type: 'string', format: 'uuid' } },
  },
  { name: 'page', in: 'query', schema: { type: 'integer', format: 'int64', minimum: 1, default: 1 } },
  {
    name: 'limit',
    in: 'query',
    description: `Values above ${LIMIT_MAX} are reduced to ${LIMIT_MAX}`,
    schema: { type: 'integer', format: 'int64', minimum: 1, default: LIMIT_DEFAULT },
  },
]

/** The thirteen operations, by method and path as Fastify writes them. */
export const DESCRIPTIONS: Readonly<Record<string, Description>> = {
  'GET /v1/org': {
    operationId: 'getOrg',
    tag: 'Organisation',
    summary: 'The organisation of the key',
    description: 'Its plan, and the scope of the key.',
    success: [200, one('Org')],
  },
  'GET /v1/regions': {
    operationId: 'listRegions',
    tag: 'Organisation',
    summary: 'All regions',
    description: 'The list is fixed and the same for every caller; `regions` of a service takes these codes.',
    success: [200, many('Region')],
  },
  'GET /v1/services': {
    operationId: 'listServices',
    tag: 'Services',
    summary: 'All services of the organisation',
    description: 'In creation order, without pages or filters.',
    success: [200, many('ServiceResponse')],
  },
  'POST /v1/services': {
    operationId: 'createService',
    tag: 'Services',
    summary: 'Create a service, which is active immediately',
    description:
      'Checked against the plan of the organisation; every listed region gets StartServiceMonitoring.',
    request: 'ServiceRequest',
    success: [201, one('ServiceResponse')],
    parameters: [IDEMPOTENCY_KEY, PREFER, ORIGIN],
  },
  'GET /v1/services/:id': {
    operationId: 'getService',
    tag: 'Services',
    summary: 'One service',
    description: '404 for a service of another organisation.',
    success: [200, one('ServiceResponse')],
  },
  'PATCH /v1/services/:id': {
    operationId: 'replaceService',
    tag: 'Services',
    summary: 'Replace the whole definition; absent fields are reset',
    description:
      'Takes the same body as create. Monitoring ends in removed regions first; a paused service stays paused.',
    request: 'ServiceRequest',
    success: [200, one('ServiceResponse')],
    parameters: [IF_MATCH, PREFER, ORIGIN],
  },
  'DELETE /v1/services/:id': {
    operationId: 'deleteService',
    tag: 'Services',
    summary: 'Delete a service permanently',
    description: 'Cannot be undone. Every region gets EndServiceMonitoring.',
    success: [204],
    parameters: [IF_MATCH, ORIGIN],
  },
  'POST /v1/services/:id/pause': {
    operationId: 'pauseService',
    tag: 'Services',
    summary: 'Stop monitoring; a paused service stays paused',
    description: 'Every region gets EndServiceMonitoring. A second pause changes nothing.',
    success: [200, one('ServiceResponse')],
    parameters: [ORIGIN],
  },
  'POST /v1/services/:id/resume': {
    operationId: 'resumeService',
    tag: 'Services',
    summary: 'Resume monitoring, if the current plan allows it',
    description: 'Every configured region gets StartServiceMonitoring. An active service is unchanged.',
    success: [200, one('ServiceResponse')],
    parameters: [ORIGIN],
  },
  'GET /v1/incidents': {
    operationId: 'listIncidents',
    tag: 'Incidents',
    summary: 'A page of incidents, newest first',
    description: 'Whole incidents of one section with their updates, without maintenance windows.',
    success: [200, one('IncidentPage')],
    parameters: INCIDENT_QUERY,
  },
  'POST /v1/incidents': {
    operationId: 'createIncident',
    tag: 'Incidents',
    summary: 'Open an incident; the message is its first update',
    description: 'The first status is `investigating`. `kind` is ignored.',
    request: 'IncidentRequest',
    success: [201, one('Incident')],
    parameters: [IDEMPOTENCY_KEY, PREFER],
  },
  'GET /v1/incidents/:id': {
    operationId: 'getIncident',
    tag: 'Incidents',
    summary: 'One incident with every update in order',
    description: '404 for an incident of another organisation and for a maintenance window.',
    success: [200, one('Incident')],
  },
  'POST /v1/incidents/:id/updates': {
    operationId: 'updateIncident',
    tag: 'Incidents',
    summary: `Append an update and set the status: ${INCIDENT_STATUSES.join(', ')}`,
    description: 'The status `resolved` closes the incident; no update can follow.',
    request: 'IncidentUpdateRequest',
    success: [200, one('Incident')],
    parameters: [PREFER],
  },
}
