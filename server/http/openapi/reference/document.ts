/** The parts of a JSON Schema that the page shows. */
export interface Schema {
  readonly $ref?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
}

/** The schemas of a body, by media type. */
type Content = Readonly<Record<string, { readonly schema: Schema }>>

export interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

export interface Response {
  readonly $ref?: string
  readonly description: string
  readonly content?: Content
}

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

/** The parts of an OpenAPI document that the page shows. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly summary: string; readonly version: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly responses: Readonly<Record<string, Response>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

/** The last part of a reference: `ServiceRequest` of `#/components/schemas/ServiceRequest`. Pure. */
export function nameOfReference(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

/** `part`, or the component of `components` that it refers to. Throws when there is none. Pure. */
export function resolved<Part extends { readonly $ref?: string }>(
  part: Part,
  components: Readonly<Record<string, Part>>,
): Part {
  if (part.$ref === undefined) return part
  const found = components[nameOfReference(part.$ref)]
  if (found === undefined) throw new Error(`the document has no ${part.$ref}`)
  return found
}

/** The schema of a JSON body; `undefined` without one. Pure. */
export function bodyOf(holder: { readonly content?: Content } | undefined): Schema | undefined {
  return holder?.content?.['application/json']?.schema
}
