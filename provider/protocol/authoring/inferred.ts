/**
 * The types that handlers see, inferred from a schema.
 *
 * Elements of lists, sets and maps are never null: validation rejects configuration with null elements
 * (validateConfig.ts).
 */
import type { NumberValue } from '../values/number.ts'
import type { ObjectTypes, Type } from '../values/type.ts'
import type { ObjectValue, Unknown, Value } from '../values/value.ts'
import type { Schema } from './schema.ts'

/**
 * The origin of a value determines its possible states:
 *
 * - `config`: the configuration; any value may be unknown;
 * - `knownConfig`: the configuration at apply time, when all values are known;
 * - `planned`: the plan; values that the provider computes may be unknown;
 * - `state`: the stored state; no value is unknown, any may be null;
 * - `result`: the result of a handler; like state, but attributes may be left out.
 */
type Source = 'config' | 'knownConfig' | 'planned' | 'state' | 'result'

type UnknownIn<P extends Source, A> = P extends 'config'
  ? Unknown
  : P extends 'planned'
    ? A extends { readonly computed: true }
      ? Unknown
      : never
    : never

type NullIn<P extends Source, A> = P extends 'config' | 'knownConfig' | 'planned'
  ? A extends { readonly required: true }
    ? never
    : null
  : null

type ElementUnknown<P extends Source> = P extends 'config' ? Unknown : never

type TypedObject<T extends ObjectTypes, P extends Source> = P extends 'result'
  ? { readonly [K in keyof T]?: Typed<T[K], P> | null }
  : { readonly [K in keyof T]: Typed<T[K], P> | null | ElementUnknown<P> }

type MapIn<P extends Source, V> = P extends 'result'
  ? ReadonlyMap<string, V> | { readonly [key: string]: V }
  : ReadonlyMap<string, V>

// `Type extends T` and `string extends keyof B` hold for schemas without literal types. Without these branches the
// compiler would expand general schema types forever.
type Typed<T, P extends Source> = Type extends T ? Value : KnownTyped<T, P>

type KnownTyped<T, P extends Source> = T extends 'string'
  ? string
  : T extends 'number'
    ? NumberValue
    : T extends 'bool'
      ? boolean
      : T extends { readonly list: infer E }
        ? readonly (Typed<E, P> | ElementUnknown<P>)[]
        : T extends { readonly set: infer E }
          ? readonly (Typed<E, P> | ElementUnknown<P>)[]
          : T extends { readonly map: infer E }
            ? MapIn<P, Typed<E, P> | ElementUnknown<P>>
            : T extends { readonly object: infer O extends ObjectTypes }
              ? TypedObject<O, P>
              : never

type Nested<N, A, P extends Source> = N extends 'single'
  ? AttributesIn<A, P>
  : N extends 'map'
    ? MapIn<P, AttributesIn<A, P> | ElementUnknown<P>>
    : readonly (AttributesIn<A, P> | ElementUnknown<P>)[]

type AttributeIn<A, P extends Source> =
  | (A extends { readonly nesting: infer N; readonly attributes: infer B }
      ? Nested<N, B, P>
      : A extends { readonly type: infer T }
        ? Typed<T, P>
        : never)
  | NullIn<P, A>
  | UnknownIn<P, A>

type AttributesIn<B, P extends Source> = string extends keyof B
  ? P extends 'result'
    ? object
    : ObjectValue
  : P extends 'result'
    ? { readonly [K in keyof B]?: AttributeIn<B[K], P> }
    : { readonly [K in keyof B]: AttributeIn<B[K], P> }

/** A known value of type `T`, for arguments and results of functions. */
export type ValueOfType<T extends Type> = Typed<T, 'state'>

/** Configuration during validate and plan: every value may be unknown. */
export type ConfigOf<S extends Schema> = AttributesIn<S['attributes'], 'config'>
/** Configuration during apply: completely known, with the values of write-only attributes. */
export type KnownConfigOf<S extends Schema> = AttributesIn<S['attributes'], 'knownConfig'>
/** A plan: the configured values, and `UNKNOWN` for values that the provider computes. */
export type PlannedOf<S extends Schema> = AttributesIn<S['attributes'], 'planned'>
/** Stored state. Null for unset values, and for nearly all values right after an import. */
export type StateOf<S extends Schema> = AttributesIn<S['attributes'], 'state'>
/** The result of a handler. The meaning of an omitted attribute depends on the handler. */
export type ResultOf<S extends Schema> = AttributesIn<S['attributes'], 'result'>
/** The attributes that a plan hook plans differently. */
export type AmendmentOf<S extends Schema> = {
  readonly [K in keyof S['attributes']]?: AttributeIn<S['attributes'][K], 'result'> | Unknown
}
