import packageJson from '../../../package.json' with { type: 'json' }
import { OPERATIONS } from '../operations/apiRoutes.ts'
import type { Operation } from '../operations/operation.ts'
import { DESCRIPTIONS, type Description, IF_MATCH, PARAMETERS, TAGS } from './openApiOperations.ts'
import { type Json, nounSchemas, schemaRef } from './openApiSchemas.ts'

/** `path` in OpenAPI form, with the parameter name of the API document. Pure. */
function templateOf(path: string): string {
  return path.replace(':id', path.startsWith('/v1/services') ? '{service_id}' : '{id}')
}

/** The default address of the server. */
const DEFAULT_URL = 'http://127.0.0.1:7171'

/** The API as an OpenAPI 3.1 document, built from the schemas that the server validates with. Pure. */
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
      summary: 'Monitored services and incidents of one organisation.',
      description: 'docs/contract.md has the decisions on points that the API document leaves open.',
      contact: { name: 'The operator of the server' },
      license: { name: 'Apache License 2.0', identifier: packageJson.license },
    },
    servers: [
      {
        url: '{base_url}',
        description: 'The server of the organisation',
        variables: { base_url: { default: DEFAULT_URL, description: 'Its address, without /v1' } },
      },
    ],
    security: [{ apiKey: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'pharos_<64 hexadecimal digits>',
          description: 'A key of the organisation; one with the scope read_only cannot change anything.',
        },
      },
      parameters: PARAMETERS,
      responses: Object.fromEntries(
        Object.values(REFUSALS).map(([name, description]) => [
          name,
          { description, content: jsonContent(schemaRef('Error')) },
        ]),
      ),
      schemas: nounSchemas(),
    },
  }
}

/** Refusals by status: the name of the response, and its cause. Contract: Errors. */
const REFUSALS = {
  400: ['BadRequest', 'The request or its body is not valid'],
  401: ['Unauthorized', 'The API key is missing, malformed or revoked'],
  403: ['Forbidden', 'The key is read_only, or the plan does not allow the request'],
  404: ['NotFound', 'The organisation has no such service or incident'],
  412: ['PreconditionFailed', 'The service has changed since its ETag was read'],
  413: ['PayloadTooLarge', 'The body is larger than 1 MiB'],
  415: ['UnsupportedMediaType', 'The body is not JSON in UTF-8'],
  429: ['TooManyRequests', 'The key exceeded its rate limit; Retry-After says how long to wait'],
  500: ['InternalError', 'Nothing was committed; the request can be repeated'],
  502: ['BadGateway', 'Whether the change was made is unknown: read before repeating it'],
} as const

/** Statuses with which every operation may refuse. */
const ALWAYS = [400, 401, 403, 413, 429, 500] as const

/** Methods that make changes, whose outcome can be unknown. Gap G56. */
const CHANGES: ReadonlySet<string> = new Set(['POST', 'PATCH', 'DELETE'])

/** Further refusals of an operation: unknown id, failed precondition, wrong type of body. Pure. */
function refusalsOf(
  { request, parameters = [] }: Description,
  id: string | undefined,
  method: string,
): readonly (keyof typeof REFUSALS)[] {
  return [
    ...ALWAYS,
    ...(id === undefined ? [] : [404 as const]),
    ...(parameters.includes(IF_MATCH) ? [412 as const] : []),
    ...(request === undefined ? [] : [415 as const]),
    ...(CHANGES.has(method) ? [502 as const] : []),
  ]
}

function describe({ method, path }: Operation, template: string): Json {
  const known = DESCRIPTIONS[`${method} ${path}`]
  if (known === undefined) throw new Error(`${method} ${path} has no description`)
  const { operationId, tag, summary, description, request, success, parameters = [] } = known
  const id = /\{(.+)\}/.exec(template)?.[1]
  const inPath =
    id === undefined
      ? []
      : [{ name: id, in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }]
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    parameters: [...inPath, ...parameters],
    ...(request === undefined
      ? {}
      : { requestBody: { required: true, content: jsonContent(schemaRef(request)) } }),
    responses: {
      ...successResponse(success),
      ...Object.fromEntries(
        refusalsOf(known, id, method).map((status) => [
          status,
          { $ref: `#/components/responses/${REFUSALS[status][0]}` },
        ]),
      ),
    },
  }
}

function successResponse([status, schema]: Description['success']): Json {
  const content = schema === undefined ? {} : { content: jsonContent(schema) }
  return { [status]: { description: 'Success', ...content } }
}

function jsonContent(schema: Json): Json {
  return { 'application/json': { schema } }
}
