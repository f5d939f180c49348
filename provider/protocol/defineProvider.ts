/** Validates a provider's definition and prepares it for serving. */
import type { AnyResource, Provider, ProviderDefinition, Typed } from './authoring/provider.ts'
import { type Attribute, erased, isNested, objectTypesOf, type Schema } from './authoring/schema.ts'
import { NAME, NAME_RULE, type SchemaUse, schemaFaults } from './schema/assertions.ts'

function upgraderFaults({ schema, upgraders }: AnyResource<never>): readonly string[] {
  const current = schema.version ?? 0
  const given = Object.keys(upgraders ?? {}).map(Number)
  const missing = Array.from({ length: current }, (_, version) => version).filter((n) => !given.includes(n))
  const surplus = given.filter((version) => version >= current)
  return [
    ...missing.map((version) => `there is no upgrader from state version ${version} to ${version + 1}`),
    ...surplus.map(
      (version) => `the upgrader from version ${version} leads past the schema's version ${current}`,
    ),
  ]
}

/** Without an update handler, a change of any argument must replace the resource. */
function updateFaults({ schema, update }: AnyResource<never>): readonly string[] {
  if (update !== undefined) return []
  const changesInPlace = ([, attribute]: [string, Attribute]): boolean =>
    !attribute.requiresReplace && (attribute.required === true || attribute.optional === true)
  return Object.entries(schema.attributes)
    .filter(changesInPlace)
    .map(([name]) => `${name}: there is no update handler, so a change must replace the resource`)
}

function identityFaults({ schema, identity = [] }: AnyResource<never>): readonly string[] {
  return identity
    .filter((name) => {
      const attribute = schema.attributes[name]
      return attribute === undefined || isNested(attribute) || typeof attribute.type !== 'string'
    })
    .map((name) => `${name}: an identity attribute must be a string, number or boolean of the schema`)
}

function nameFaults(provider: string, typeName: string): readonly string[] {
  if (typeName.startsWith(`${provider}_`)) return []
  return [`Terraform finds the provider of a type by its prefix, so the name must start with ${provider}_`]
}

/** A list returns objects of the resource with its name. */
function listFaults(resource: AnyResource<never> | undefined): readonly string[] {
  if (resource?.identity !== undefined) return []
  return ['a list needs a resource of the same name that has an identity']
}

function faultsOf<S extends Schema, Client>(definition: ProviderDefinition<S, Client>): readonly string[] {
  const { name, schema, resources, dataSources = {}, lists = {}, actions = {}, functions = {} } = definition
  const faultsIn = <Handlers extends { readonly schema: Schema }>(
    types: { readonly [typeName: string]: Handlers },
    { prefix, use }: { readonly prefix: string; readonly use: SchemaUse },
    moreFaults: (handlers: Handlers, typeName: string) => readonly string[] = () => [],
  ): readonly string[] =>
    Object.entries(types).flatMap(([typeName, handlers]) =>
      [
        ...nameFaults(name, typeName),
        ...schemaFaults(handlers.schema, use),
        ...moreFaults(handlers, typeName),
      ].map((fault) => `${prefix}${typeName}: ${fault}`),
    )
  return [
    ...schemaFaults(schema, 'provider').map((fault) => `provider: ${fault}`),
    ...faultsIn(resources, { prefix: '', use: 'resource' }, (resource) => [
      ...upgraderFaults(resource),
      ...updateFaults(resource),
      ...identityFaults(resource),
    ]),
    ...faultsIn(dataSources, { prefix: 'data.', use: 'data source' }),
    ...faultsIn(lists, { prefix: 'list.', use: 'data source' }, (_, typeName) =>
      listFaults(resources[typeName]),
    ),
    ...faultsIn(actions, { prefix: 'action.', use: 'action' }),
    ...Object.keys(functions)
      .filter((functionName) => !NAME.test(functionName))
      .map((functionName) => `function ${functionName}: ${NAME_RULE}`),
  ]
}

function typed<Handlers extends { readonly schema: Schema }>(handlersByName: {
  readonly [typeName: string]: Handlers
}): ReadonlyMap<string, Typed<Handlers>> {
  return new Map(
    Object.entries(handlersByName).map(([name, handlers]) => [
      name,
      { name, handlers, type: { object: objectTypesOf(handlers.schema.attributes) } },
    ]),
  )
}

/**
 * Creates a provider for `serveProvider`.
 *
 * Throws an Error that lists every fault when a schema breaks a rule (schema/assertions.ts), an upgrader is
 * missing, or an argument can change but there is no update handler.
 */
export function defineProvider<S extends Schema, Client>(
  definition: ProviderDefinition<S, Client>,
): Provider {
  const faults = faultsOf(definition)
  if (faults.length > 0) {
    throw new Error(`provider ${definition.name} cannot be served:\n${faults.join('\n')}`)
  }
  const provider = erased<ProviderDefinition<Schema, unknown>>(definition)
  return {
    ...provider,
    configType: { object: objectTypesOf(provider.schema.attributes) },
    resources: typed(provider.resources),
    dataSources: typed(provider.dataSources ?? {}),
    lists: typed(provider.lists ?? {}),
    actions: typed(provider.actions ?? {}),
    functions: new Map(Object.entries(provider.functions ?? {})),
  }
}
