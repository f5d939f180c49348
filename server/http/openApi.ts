import * as z from 'zod'
import {
  incidentPageSchema,
  incidentRequestSchema,
  incidentSchema,
  incidentUpdateRequestSchema,
} from '../../api/contract/incident.ts'
import { INCIDENT_STATUSES, SECTIONS, SEVERITIES } from '../../api/contract/incidentTerms.ts'
import { orgSchema, regionSchema } from '../../api/contract/org.ts'
import { serviceRequestSchema, serviceResponseSchema } from '../../api/contract/service.ts'
import { OPERATIONS } from './apiRoutes.ts'
import { LIMIT_DEFAULT, LIMIT_MAX, SEARCH_CHARS_MAX } from './incidentQuery.ts'
import type { Operation } from './operation.ts'

type Json = Readonly<Record<string, unknown>>

const SCHEMAS = {
  Org: orgSchema,
  Region: regionSchema,
  ServiceRequest: serviceRequestSchema,
  ServiceResponse: serviceResponseSchema,
  Incident: incidentSchema,
  IncidentPage: incidentPageSchema,
  IncidentRequest: incidentRequestSchema,
  IncidentUpdateRequest: incidentUpdateRequestSchema,
  Error: z.object({ error: z.string() }),
} as const

type SchemaName = keyof typeof SCHEMAS

interface Description {
  readonly operationId: string
  readonly summary: string
  readonly request?: SchemaName
  /** Status of success and the schema of its body, if it has one. */
  readonly success: readonly [200 | 201 | 204, Json?]
  readonly parameters?: readonly Json[]
}

const one = (name: SchemaName): Json => ({ $ref: `#/components/schemas/${name}` })
const many = (name: SchemaName): Json => ({ type: 'array', items: one(name) })

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
})
const IDEMPOTENCY_KEY = header('Idempotency-Key', 'The same key and body have one effect within 24 hours')
const IF_MATCH = header('If-Match', 'The ETag that the service still has to have')
const PREFER = header('Prefer', '"handling=strict" refuses unknown fields')

const INCIDENT_QUERY: readonly Json[] = [
  { name: 'section', in: 'query', required: true, schema: { type: 'string', enum: SECTIONS } },
  { name: 'q', in: 'query', schema: { type: 'string', maxLength: SEARCH_CHARS_MAX } },
  { name: 'severity', in: 'query', schema: { type: 'string', enum: SEVERITIES } },
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
    description: `More than ${LIMIT_MAX} is cut to it`,
    schema: { type: 'integer', format: 'int64', minimum: 1, default: LIMIT_DEFAULT },
  },
]

const DESCRIPTIONS: Readonly<Record<string, Description>> = {
  'GET /v1/org': {
    operationId: 'getOrg',
    summary: 'The organisation of the key',
    success: [200, one('Org')],
  },
  'GET /v1/regions': { operationId: 'listRegions', summary: 'All regions', success: [200, many('Region')] },
  'GET /v1/services': {
    operationId: 'listServices',
    summary: 'All services of the organisation',
    success: [200, many('ServiceResponse')],
  },
  'POST /v1/services': {
    operationId: 'createService',
    summary: 'Create a service, active at once',
    request: 'ServiceRequest',
    success: [201, one('ServiceResponse')],
    parameters: [IDEMPOTENCY_KEY, PREFER],
  },
  'GET /v1/services/:id': {
    operationId: 'getService',
    summary: 'One service',
    success: [200, one('ServiceResponse')],
  },
  'PATCH /v1/services/:id': {
    operationId: 'replaceService',
    summary: 'Replace the whole definition; what is left out is reset',
    request: 'ServiceRequest',
    success: [200, one('ServiceResponse')],
    parameters: [IF_MATCH, PREFER],
  },
  'DELETE /v1/services/:id': {
    operationId: 'deleteService',
    summary: 'Delete a service for good',
    success: [204],
    parameters: [IF_MATCH],
  },
  'POST /v1/services/:id/pause': {
    operationId: 'pauseService',
    summary: 'Stop monitoring; a paused service stays paused',
    success: [200, one('ServiceResponse')],
  },
  'POST /v1/services/:id/resume': {
    operationId: 'resumeService',
    summary: 'Monitor again, if the plan as of now allows it',
    success: [200, one('ServiceResponse')],
  },
  'GET /v1/incidents': {
    operationId: 'listIncidents',
    summary: 'A page of incidents, newest first',
    success: [200, one('IncidentPage')],
    parameters: INCIDENT_QUERY,
  },
  'POST /v1/incidents': {
    operationId: 'createIncident',
    summary: 'Open an incident; the message is its first update',
    request: 'IncidentRequest',
    success: [201, one('Incident')],
    parameters: [IDEMPOTENCY_KEY, PREFER],
  },
  'GET /v1/incidents/:id': {
    operationId: 'getIncident',
    summary: 'One incident with every update in order',
    success: [200, one('Incident')],
  },
  'POST /v1/incidents/:id/updates': {
    operationId: 'updateIncident',
    summary: `Append an update and set the status: ${INCIDENT_STATUSES.join(', ')}`,
    request: 'IncidentUpdateRequest',
    success: [200, one('Incident')],
    parameters: [PREFER],
  },
}

/** `path` as OpenAPI writes it, the parameter named as the document names it. Pure. */
function templateOf(path: string): string {
  return path.replace(':id', path.startsWith('/v1/services') ? '{service_id}' : '{id}')
}

/** The API as an OpenAPI 3.1 document, made from the schemas that the server itself reads with. Pure. */
export function openApi(): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const operation of OPERATIONS) {
    const template = templateOf(operation.path)
    paths[template] = { ...paths[template], [operation.method.toLowerCase()]: describe(operation, template) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Monitoring Service Management API',
      version: 'v1',
      description: 'What the API document leaves open is decided in docs/contract.md.',
    },
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'pharos_<64 hexadecimal digits>' },
      },
      schemas: Object.fromEntries(
        Object.entries(SCHEMAS).map(([name, schema]) => [name, jsonSchema(schema)]),
      ),
    },
  }
}

function jsonSchema(schema: z.ZodType): Json {
  // The input form leaves room for fields to come, as clients have to (Gap G16).
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  return rest
}

/** Statuses that any operation may refuse with. */
const REFUSALS = [400, 401, 403, 413, 429, 500] as const

/** What may be refused besides: an id of nothing, a precondition, a body of another type. Pure. */
function refusalsOf({ request, parameters = [] }: Description, id: string | undefined): readonly number[] {
  return [
    ...REFUSALS,
    ...(id === undefined ? [] : [404]),
    ...(parameters.includes(IF_MATCH) ? [412] : []),
    ...(request === undefined ? [] : [415]),
  ]
}

function describe({ method, path }: Operation, template: string): Json {
  const description = DESCRIPTIONS[`${method} ${path}`]
  if (description === undefined) throw new Error(`${method} ${path} has no description`)
  const { operationId, summary, request, success, parameters = [] } = description
  const [status, schema] = success
  const id = /\{(.+)\}/.exec(template)?.[1]
  const inPath =
    id === undefined
      ? []
      : [{ name: id, in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }]
  return {
    operationId,
    summary,
    parameters: [...inPath, ...parameters],
    ...(request === undefined ? {} : { requestBody: { required: true, content: jsonContent(one(request)) } }),
    responses: {
      [status]: {
        description: 'Success',
        ...(schema === undefined ? {} : { content: jsonContent(schema) }),
      },
      ...Object.fromEntries(
        refusalsOf(description, id).map((refusal) => [
          refusal,
          { description: 'Refused', content: jsonContent(one('Error')) },
        ]),
      ),
    },
  }
}

function jsonContent(schema: Json): Json {
  return { 'application/json': { schema } }
}
