import type { Provider, Typed } from '../authoring/provider.ts'
import type { Schema } from '../authoring/schema.ts'
import { encodeSchema } from '../schema/encodeSchema.ts'
import type { WireSchema } from '../wire/messageParts.ts'
import { RPCS, type ResponseOf } from '../wire/tfplugin6.ts'
import type { Rpc } from './call.ts'
import { encodeFunctions } from './getFunctions.ts'

/**
 * Plan hooks receive deletes too. No call requires GetProviderSchema first, so Terraform fetches the schema once per
 * command instead of once per process.
 */
export const SERVER_CAPABILITIES = { planDestroy: true, getProviderSchemaOptional: true }

function encodeAll(
  types: ReadonlyMap<string, Typed<{ readonly schema: Schema }>>,
): ReadonlyMap<string, WireSchema> {
  return new Map([...types].map(([name, { handlers }]) => [name, encodeSchema(handlers.schema)]))
}

/** Every schema of the provider. */
export const getProviderSchema: Rpc<'GetProviderSchema'> = async (_request, { session }) => {
  return allSchemas(session.provider)
}

/** The response to GetProviderSchema as bytes, for `serveProvider`. */
export function encodedSchema(provider: Provider): Uint8Array {
  return RPCS.GetProviderSchema.response.encode(allSchemas(provider))
}

function allSchemas(provider: Provider): ResponseOf<'GetProviderSchema'> {
  return {
    provider: encodeSchema(provider.schema),
    resourceSchemas: encodeAll(provider.resources),
    dataSourceSchemas: encodeAll(provider.dataSources),
    serverCapabilities: SERVER_CAPABILITIES,
    // Terraform before 1.14 skips the unknown field.
    listResourceSchemas: encodeAll(provider.lists),
    actionSchemas: new Map([...encodeAll(provider.actions)].map(([name, schema]) => [name, { schema }])),
    functions: encodeFunctions(provider),
  }
}
