import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import * as z from 'zod'
import { openApi } from '../http/openapi/openApi.ts'

const responseSchema = z.union([
  z.object({ $ref: z.string() }),
  z.object({ content: z.object({ 'application/json': z.unknown() }).optional() }),
])
const operationSchema = z.object({ responses: z.record(z.string(), responseSchema) })
const document = openApi()
const { paths } = z
  .object({ paths: z.record(z.string(), z.record(z.string(), operationSchema)) })
  .parse(document)

/** Base of the references inside the document. */
const BASE = 'openapi'
const ajv = new Ajv2020({ strict: false, allErrors: false })
  .addFormat('uuid', /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/)
  .addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .addFormat('int32', { type: 'number', validate: (value: number) => value === Math.trunc(value) })
  .addSchema({ ...document, $id: BASE })

/** The operations of the document, with a pattern for each path template. */
const operations = Object.entries(paths).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, { responses }]) => ({
    template,
    method,
    form: new RegExp(`^${template.replace(/\{.+\}/, '[^/]+')}$`),
    responses,
  })),
)
const validators = new Map<string, ValidateFunction>()

/**
 * Throws unless the OpenAPI document describes the response to this request. Unknown paths and methods are not checked.
 */
export function assertDescribed(
  method: string,
  path: string,
  received: { readonly status: number; readonly json: unknown },
): void {
  const pathname = path.split('?', 1)[0] ?? ''
  const operation = operations.find(
    (each) => each.method === method.toLowerCase() && each.form.test(pathname),
  )
  if (operation === undefined) return
  const { template, responses } = operation
  const response = responses[received.status]
  if (response === undefined) throw new Error(`${method} ${pathname}: ${received.status} is not described`)
  const place = ['paths', template, operation.method, 'responses', String(received.status)]
  const root = '$ref' in response ? response.$ref : pointer(place)
  if (!('$ref' in response) && response.content === undefined) {
    if (received.json === undefined) return
    throw new Error(`${method} ${pathname}: ${received.status} has a body that is not described`)
  }
  const validate = validatorOf(`${BASE}${root}${pointer(['content', 'application/json', 'schema']).slice(1)}`)
  if (!validate(received.json)) {
    const problem = ajv.errorsText(validate.errors)
    throw new Error(`${method} ${pathname}: ${received.status} is not as described: ${problem}`)
  }
}

function pointer(steps: readonly string[]): string {
  const escaped = steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')))
  return `#/${escaped.join('/')}`
}

function validatorOf(reference: string): ValidateFunction {
  const known = validators.get(reference)
  if (known !== undefined) return known
  const made = ajv.compile({ $ref: reference })
  validators.set(reference, made)
  return made
}
