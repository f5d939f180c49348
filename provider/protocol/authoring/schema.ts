/**
 * Schemas as authors write them: plain data, from which the types that handlers see are inferred (inferred.ts).
 *
 * The rules for schemas are in assertions.ts. They are checked when the provider is defined.
 */

import type { NumberValue } from '../values/number.ts'
import type { ObjectTypes, Type } from '../values/type.ts'
import type { Value } from '../values/value.ts'

interface AttributeRules<T> {
  /** Markdown. State the unit and the default. */
  readonly description?: string
  /** The configuration must set it. Excludes the other two. */
  readonly required?: true
  /** The configuration may set it. */
  readonly optional?: true
  /** The provider may set it where the configuration does not. */
  readonly computed?: true
  /** Terraform hides the value in its output, but stores it in the state. */
  readonly sensitive?: true
  /** The value reaches handlers through `config` only and is never stored: null in plan and state. */
  readonly writeOnly?: true
  /** Changing it replaces the resource. */
  readonly requiresReplace?: true
  /** Computed, and never changed by an update: the plan keeps the value instead of showing "(known after apply)". */
  readonly stable?: true
  /**
   * Whether two spellings are equal (`60s`, `1m`). The stored spelling is then kept, in reads and plans.
   * Called only with values that are neither null nor unknown and contain nothing unknown.
   */
  equal?(prior: T, next: T): boolean
}

interface LeafAttribute<N extends Type, T> extends AttributeRules<T> {
  readonly type: N
  readonly nesting?: never
}

type StringAttribute = LeafAttribute<'string', string>
type NumberAttribute = LeafAttribute<'number', NumberValue>
type BoolAttribute = LeafAttribute<'bool', boolean>
type CollectionAttribute = LeafAttribute<Exclude<Type, string>, Value>

/** An attribute with a plain type, without rules for its parts. */
type ValueAttribute = StringAttribute | NumberAttribute | BoolAttribute | CollectionAttribute

/** An attribute with one or more objects, whose attributes have their own rules. */
export interface NestedAttribute extends AttributeRules<Value> {
  readonly nesting: 'single' | 'list' | 'set' | 'map'
  readonly type?: never
  readonly attributes: Attributes
}

export type Attribute = ValueAttribute | NestedAttribute

export interface Attributes {
  readonly [name: string]: Attribute
}

/** The schema of a provider's configuration, a resource or a data source. */
export interface Schema {
  /** Version of the stored state (default: 0). A higher version needs an upgrader. */
  readonly version?: number
  /** Markdown. */
  readonly description?: string
  readonly attributes: Attributes
}

/** Returns `schema` with its exact type, from which the types of handlers are inferred. */
export function defineSchema<const S extends Schema>(schema: S): S {
  return schema
}

/** An attribute that the configuration must set. The description is in Markdown, here and below. Pure. */
export function required<const T extends Type>(type: T, description: string) {
  return { type, required: true, description } as const
}

/** An attribute that the configuration may set. State the default in the description. Pure. */
export function optional<const T extends Type>(type: T, description: string) {
  return { type, optional: true, description } as const
}

/** An attribute that only the provider sets. Pure. */
export function computed<const T extends Type>(type: T, description: string) {
  return { type, computed: true, description } as const
}

/** `handlers`, which are typed by a schema, as those of a schema that is known only at run time. */
export function erased<Any>(handlers: object): Any
export function erased(handlers: object): object {
  return handlers
}

/** Whether `attribute` contains objects with their own attributes. */
export function isNested(attribute: Attribute): attribute is NestedAttribute {
  return 'nesting' in attribute
}

/** Types of the objects that `attributes` describe. */
export function objectTypesOf(attributes: Attributes): ObjectTypes {
  return Object.fromEntries(Object.entries(attributes).map(([name, attribute]) => [name, typeOf(attribute)]))
}

/** The type of an attribute's value. */
export function typeOf(attribute: Attribute): Type {
  if (!isNested(attribute)) return attribute.type
  const object = { object: objectTypesOf(attribute.attributes) }
  switch (attribute.nesting) {
    case 'single':
      return object
    case 'list':
      return { list: object }
    case 'set':
      return { set: object }
    case 'map':
      return { map: object }
  }
}
