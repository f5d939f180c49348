/** The rules for schemas, checked once when a provider is defined. */

import { type Attribute, type Attributes, isNested, type Schema } from '../authoring/schema.ts'
import { formatPath } from '../values/path.ts'

/** A name of an attribute or a function. */
export const NAME = /^[a-z][a-z0-9_]*$/
export const NAME_RULE = 'a name has lower-case letters, digits and underscores'

/** Arguments that Terraform itself gives every resource and data source. */
const RESERVED_IN_RESOURCES = [
  'count',
  'for_each',
  'provider',
  'depends_on',
  'lifecycle',
  'connection',
  'provisioner',
]

/** Properties that an attribute inherits from its ancestors. */
interface Surroundings {
  readonly inSet: boolean
  readonly inWriteOnly: boolean
  readonly inComputed: boolean
}

/** The faults of one attribute; each is the rest of a sentence: "count: is reserved …". */
function faultsOf(name: string, attribute: Attribute, around: Surroundings): readonly string[] {
  const { required, optional, computed, writeOnly, stable, requiresReplace } = attribute
  const rules: readonly (readonly [boolean, string])[] = [
    [!NAME.test(name), NAME_RULE],
    [!required && !optional && !computed, 'is neither required, optional nor computed'],
    [!!required && (!!optional || !!computed), 'required excludes optional and computed'],
    [!!writeOnly && !!computed, 'a write-only value is never stored, so it cannot be computed'],
    [!!writeOnly && around.inSet, 'Terraform allows no write-only attribute inside a set'],
    [!!writeOnly && around.inComputed, 'a write-only attribute cannot be inside a computed one'],
    [around.inWriteOnly && !writeOnly, 'everything inside a write-only attribute is write-only'],
    [!!computed && around.inSet, 'elements of a set have no identity, so nothing inside can be computed'],
    [!!requiresReplace && around.inSet, 'paths cannot point into a set: put requiresReplace on the set'],
    [!!stable && !computed, 'stable applies to computed attributes, and this one is not computed'],
  ]
  return rules.filter(([broken]) => broken).map(([, fault]) => fault)
}

function attributeFaults(attributes: Attributes, path: readonly string[], around: Surroundings): string[] {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    const here = [...path, name]
    const own = faultsOf(name, attribute, around).map((fault) => `${formatPath(here)}: ${fault}`)
    if (!isNested(attribute)) return own
    const inner = attributeFaults(attribute.attributes, here, {
      inSet: around.inSet || attribute.nesting === 'set',
      inWriteOnly: around.inWriteOnly || attribute.writeOnly === true,
      // Children of an "optional and computed" attribute may be configured; those of one that is only computed never
      // are.
      inComputed: around.inComputed || (attribute.computed === true && attribute.optional !== true),
    })
    return [...own, ...inner]
  })
}

/** Where a schema is used, which decides the arguments that are reserved for Terraform. */
export type SchemaUse = 'provider' | 'resource' | 'data source' | 'action'

const RESERVED_IN: Readonly<Record<SchemaUse, readonly string[]>> = {
  provider: ['alias', 'version'],
  resource: RESERVED_IN_RESOURCES,
  'data source': RESERVED_IN_RESOURCES,
  // An action's configuration is a block of its own, without reserved arguments.
  action: [],
}

/**
 * The faults of `schema`, as `path: fault`; empty when it is valid.
 *
 * Only resources are written and stored, so only they may have write-only attributes.
 */
export function schemaFaults(schema: Schema, use: SchemaUse): readonly string[] {
  const reserved = RESERVED_IN[use]
  const root = Object.entries(schema.attributes).flatMap(([name, attribute]) => [
    ...(reserved.includes(name) ? [`${name}: is reserved by Terraform`] : []),
    ...(use !== 'resource' && attribute.writeOnly
      ? [`${name}: only resources can have write-only attributes`]
      : []),
    ...((use === 'provider' || use === 'action') && attribute.computed
      ? [`${name}: the configuration of a ${use} cannot be computed`]
      : []),
  ])
  const nowhere = { inSet: false, inWriteOnly: false, inComputed: false }
  return [...root, ...attributeFaults(schema.attributes, [], nowhere)]
}
