import * as z from 'zod'
import { openApi } from '../http/openApi.ts'

const jsonObject = z.record(z.string(), z.unknown())
const contentSchema = z.object({ 'application/json': z.object({ schema: jsonObject }) })
const responseSchema = z.object({ content: contentSchema.optional() })
const operationSchema = z.object({ responses: z.record(z.string(), responseSchema) })
const document = z
  .object({
    paths: z.record(z.string(), z.record(z.string(), operationSchema)),
    components: z.object({ schemas: jsonObject }),
  })
  .parse(openApi())

/** A request as a path template of the document sees it. */
const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, { responses }]) => ({
    method: method.toUpperCase(),
    form: new RegExp(`^${template.replace(/\{.+\}/, '[^/]+')}$`),
    responses,
  })),
)
const readers = new Map<string, z.ZodType>()

/**
 * Throws unless the answer is one that the OpenAPI document describes for this request. Paths and methods
 * that it does not have are not judged.
 */
export function assertDescribed(
  method: string,
  path: string,
  answer: { readonly status: number; readonly json: unknown },
): void {
  const pathname = path.split('?', 1)[0] ?? ''
  const operation = operations.find((each) => each.method === method && each.form.test(pathname))
  if (operation === undefined) return
  const response = operation.responses[answer.status]
  if (response === undefined) throw new Error(`${method} ${pathname}: ${answer.status} is not described`)
  const schema = response.content?.['application/json'].schema
  const read = schema === undefined ? z.undefined() : reader(schema)
  const problem = read.safeParse(answer.json).error
  if (problem !== undefined) {
    throw new Error(`${method} ${pathname}: ${answer.status} is not as described: ${problem.message}`)
  }
}

function reader(schema: Readonly<Record<string, unknown>>): z.ZodType {
  const name = JSON.stringify(schema)
  const known = readers.get(name)
  if (known !== undefined) return known
  const made = z.fromJSONSchema({
    ...resolve(schema),
    ...(typeof schema.items === 'object' && schema.items !== null
      ? { items: resolve({ ...schema.items }) }
      : {}),
  })
  readers.set(name, made)
  return made
}

function resolve(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const name = /^#\/components\/schemas\/(\w+)$/.exec(String(schema.$ref))?.[1]
  return name === undefined ? schema : jsonObject.parse(document.components.schemas[name])
}
