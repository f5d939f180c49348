/**
 * The types for authors of providers. README.md has a complete provider.
 *
 * Handlers are plain functions of a context. They report diagnostics with `context.report`, return the facts about the
 * object, and may throw: an exception becomes an error diagnostic, and each handler below documents the state that is
 * then kept.
 */

import type { JsonObject } from '../values/json.ts'
import type { Type } from '../values/type.ts'
import type { ObjectValue } from '../values/value.ts'
import type { AnyAction } from './action.ts'
import type {
  AnyViews,
  Awaitable,
  ConfigureContext,
  ConfiguredContext,
  ValidateContext,
  Views,
  ViewsOf,
} from './context.ts'
import type { ConfigOf } from './inferred.ts'
import type { AnyList } from './listing.ts'
import type { AnyFunction } from './providerFunction.ts'
import { erased, type Schema } from './schema.ts'

export interface PlanContext<V extends Views, Client> extends ConfiguredContext<Client> {
  /** Bytes stored beside the state; empty for a create. */
  readonly private: Uint8Array
  readonly change:
    | { readonly action: 'create'; readonly config: V['config']; readonly planned: V['config'] }
    | {
        readonly action: 'update'
        readonly config: V['config']
        readonly planned: V['config']
        readonly prior: V['state']
        /** False for a plan without changes, unless this hook adds one. */
        readonly hasChanges: boolean
      }
    | { readonly action: 'delete'; readonly prior: V['state'] }
}

/** The result of a plan hook. Omitted attributes are unchanged. */
export interface PlanAmendment<V extends Views> {
  /** Attributes to plan differently, by name; `UNKNOWN` for values that the apply determines. */
  readonly planned?: V['amendment']
}

/** The context of the handler of this name, for your own functions. @public */
export interface ReadContext<V extends Views, Client> extends ConfiguredContext<Client> {
  readonly prior: V['state']
  readonly private: Uint8Array
}

interface ApplyContext<V extends Views, Client> extends ConfiguredContext<Client> {
  /** The configuration, with the values of write-only attributes. */
  readonly config: V['knownConfig']
  /** The plan; `UNKNOWN` for values that the handler returns. */
  readonly planned: V['planned']
  /** Bytes stored beside the state; empty for a create. */
  readonly private: Uint8Array
  /**
   * Records the current facts about the object, which are saved if the handler fails later. Call it as soon as an id is
   * known. Omitted attributes of a create are saved as planned, those of an update as they were.
   */
  keep(state: V['result'], privateBytes?: Uint8Array): void
}

/** The context of the handler of this name, for your own functions. @public */
export type CreateContext<V extends Views, Client> = ApplyContext<V, Client>

/** The context of the handler of this name, for your own functions. @public */
export interface UpdateContext<V extends Views, Client> extends ApplyContext<V, Client> {
  readonly prior: V['state']
}

/** The context of the handler of this name, for your own functions. @public */
export type DeleteContext<V extends Views, Client> = ReadContext<V, Client>

/** The context of the handler of this name, for your own functions. @public */
export interface ImportContext<Client> extends ConfiguredContext<Client> {
  /** The argument of `terraform import`. */
  readonly id: string
}

/** The object after a handler. */
export interface HandlerResult<V extends Views> {
  readonly state: V['result']
  /** Private bytes to store. Default: those that the handler received. */
  readonly private?: Uint8Array
}

/** A managed resource, with types inferred from its schema. Give it to `resourceFor`. */
export type Resource<S extends Schema, Client> = ResourceHandlers<ViewsOf<NoInfer<S>>, Client> & {
  readonly schema: S
}

interface ResourceHandlers<V extends Views, Client> {
  readonly schema: Schema
  /**
   * Names of the attributes that identify an object permanently, such as its id. Terraform 1.12 and later store them as
   * its identity, and can import an object by it. Default: no identity.
   */
  readonly identity?: readonly string[]
  /**
   * Function `n` converts a state of version `n` to version `n + 1`; one for every `n` below the schema's version.
   * Pure.
   */
  readonly upgraders?: { readonly [version: number]: (state: JsonObject) => JsonObject }
  /** Checks rules between attributes. Runs without a client. */
  validate?(context: ValidateContext<V['config']>): Awaitable<void>
  /** Changes a plan that already has stable values and unknowns. */
  plan?(context: PlanContext<V, Client>): Awaitable<PlanAmendment<V> | undefined>
  /**
   * The current object; `null` when it does not exist. Omitted attributes keep their stored value. A failure keeps the stored state.
   */
  read(context: ReadContext<V, Client>): Awaitable<HandlerResult<V> | null>
  /**
   * Creates the object. Planned attributes are saved as planned; the result provides the unknown ones. After a failure
   * the values passed to `keep` are saved and the resource is tainted; without `keep` nothing is saved.
   */
  create(context: CreateContext<V, Client>): Awaitable<HandlerResult<V>>
  /** Updates the object. After a failure the values passed to `keep` are saved, or else the prior state. */
  update?(context: UpdateContext<V, Client>): Awaitable<HandlerResult<V>>
  /** Deletes the object. A missing object is a success. A failure keeps the prior state. */
  delete(context: DeleteContext<V, Client>): Awaitable<void>
  /** A stub of the object with the attributes that `read` needs. Default: the resource cannot be imported. */
  import?(context: ImportContext<Client>): Awaitable<HandlerResult<V>>
}

/** The context of the handler of this name, for your own functions. @public */
export interface DataSourceContext<V extends Views, Client> extends ConfiguredContext<Client> {
  readonly config: V['knownConfig']
}

/** A data source, with types inferred from its schema. Give it to `dataSourceFor`. */
export type DataSource<S extends Schema, Client> = DataSourceHandlers<ViewsOf<NoInfer<S>>, Client> & {
  readonly schema: S
}

interface DataSourceHandlers<V extends Views, Client> {
  readonly schema: Schema
  validate?(context: ValidateContext<V['config']>): Awaitable<void>
  /** The result. Omitted attributes are as configured. */
  read(context: DataSourceContext<V, Client>): Awaitable<{ readonly state: V['result'] }>
}

export type AnyResource<Client> = ResourceHandlers<AnyViews, Client>
export type AnyDataSource<Client> = DataSourceHandlers<AnyViews, Client>

/**
 * Returns a function that type-checks a resource's handlers against its schema: `resourceFor<Client>()({ schema, … })`.
 */
export function resourceFor<Client>(): <S extends Schema>(
  resource: Resource<S, Client>,
) => AnyResource<Client> {
  return (resource) => erased(resource)
}

/** Returns a function that type-checks a data source's handlers against its schema. */
export function dataSourceFor<Client>(): <S extends Schema>(
  source: DataSource<S, Client>,
) => AnyDataSource<Client> {
  return (source) => erased(source)
}

export interface ProviderDefinition<S extends Schema, Client> {
  /** The `<name>` in `terraform-provider-<name>`. Every resource and data source is called `<name>_…`. */
  readonly name: string
  readonly version: string
  readonly schema: S
  validate?(context: ValidateContext<ConfigOf<S>>): Awaitable<void>
  /**
   * Creates the `client` of handlers. Runs in every process except those that only return schemas, so send no requests
   * here.
   */
  configure(context: ConfigureContext<ConfigOf<S>>): Awaitable<Client>
  readonly resources: { readonly [typeName: string]: AnyResource<Client> }
  readonly dataSources?: { readonly [typeName: string]: AnyDataSource<Client> }
  /** Lists by the name of their resource, which must have an identity. Used by Terraform 1.14 and later. */
  readonly lists?: { readonly [typeName: string]: AnyList<Client> }
  /** Actions, named like resources. Used by Terraform 1.14 and later. */
  readonly actions?: { readonly [typeName: string]: AnyAction<Client> }
  /** Functions by name, lower-case words with underscores. */
  readonly functions?: { readonly [name: string]: AnyFunction }
}

/** Handlers together with the type of their schema's values. */
export interface Typed<Handlers> {
  readonly name: string
  readonly handlers: Handlers
  readonly type: Type
}

/** A provider that can be served. */
export interface Provider {
  readonly name: string
  readonly version: string
  readonly schema: Schema
  readonly configType: Type
  validate?(context: ValidateContext<ObjectValue>): Awaitable<void>
  configure(context: ConfigureContext<ObjectValue>): Awaitable<unknown>
  readonly resources: ReadonlyMap<string, Typed<AnyResource<unknown>>>
  readonly dataSources: ReadonlyMap<string, Typed<AnyDataSource<unknown>>>
  readonly lists: ReadonlyMap<string, Typed<AnyList<unknown>>>
  readonly actions: ReadonlyMap<string, Typed<AnyAction<unknown>>>
  readonly functions: ReadonlyMap<string, AnyFunction>
}
