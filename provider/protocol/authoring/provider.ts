/**
 * What an author of a provider writes. README.md shows a whole provider.
 *
 * Handlers are plain functions of a context. They report what they have to say with `context.report`, return
 * what they know about the object, and may throw: an exception becomes an error diagnostic, and the state that
 * survives it is stated at each handler below.
 */

import type { JsonObject } from '../values/json.ts'
import type { Path } from '../values/path.ts'
import type { Type } from '../values/type.ts'
import type { ObjectValue } from '../values/value.ts'
import type { AnyAction } from './action.ts'
import type {
  AnyViews,
  Awaitable,
  ClientCapabilities,
  ConfigureContext,
  ConfiguredContext,
  ValidateContext,
  Views,
  ViewsOf,
} from './context.ts'
import type { ConfigOf } from './inferred.ts'
import type { AnyList } from './listing.ts'
import type { AnyFunction } from './providerFunction.ts'
import type { Schema } from './schema.ts'

export interface PlanContext<V extends Views, Client> extends ConfiguredContext<Client> {
  /** Bytes stored beside the state; empty for a create. */
  readonly private: Uint8Array
  readonly capabilities: ClientCapabilities
  readonly change:
    | { readonly action: 'create'; readonly config: V['config']; readonly planned: V['config'] }
    | {
        readonly action: 'update'
        readonly config: V['config']
        readonly planned: V['config']
        readonly prior: V['state']
        /** False when nothing is to change, unless this hook says otherwise. */
        readonly hasChanges: boolean
      }
    | { readonly action: 'delete'; readonly prior: V['state'] }
}

/** A plan hook's answer. Whatever is left out stays as it was planned. */
export interface PlanAmendment<V extends Views> {
  /** Attributes to plan differently, by name; `UNKNOWN` for what apply will tell. */
  readonly planned?: V['amendment']
  /** Further attributes whose change replaces the resource. */
  readonly requiresReplace?: readonly Path[]
  /** Bytes for apply, stored when it succeeds. Left out: those of the prior state. */
  readonly private?: Uint8Array
}

/** What a handler of this name gets, for functions of your own. @public */
export interface ReadContext<V extends Views, Client> extends ConfiguredContext<Client> {
  readonly prior: V['state']
  readonly private: Uint8Array
}

interface ApplyContext<V extends Views, Client> extends ConfiguredContext<Client> {
  /** What the user wrote, with the values of write-only attributes. */
  readonly config: V['knownConfig']
  /** What was planned; `UNKNOWN` where the handler's answer is to fill in. */
  readonly planned: V['planned']
  /** The bytes that the plan left. */
  readonly private: Uint8Array
  /**
   * Records what is known about the object now, so that it is saved if the handler fails later: call it as soon
   * as an id is known. A create's attributes that are left out are saved as planned, an update's as they were.
   */
  keep(state: V['answer'], privateBytes?: Uint8Array): void
}

/** What a handler of this name gets, for functions of your own. @public */
export type CreateContext<V extends Views, Client> = ApplyContext<V, Client>

/** What a handler of this name gets, for functions of your own. @public */
export interface UpdateContext<V extends Views, Client> extends ApplyContext<V, Client> {
  readonly prior: V['state']
}

/** What a handler of this name gets, for functions of your own. @public */
export interface DeleteContext<V extends Views, Client> extends ConfiguredContext<Client> {
  readonly prior: V['state']
  readonly private: Uint8Array
}

/** What a handler of this name gets, for functions of your own. @public */
export interface ImportContext<Client> extends ConfiguredContext<Client> {
  /** What the user gave to `terraform import`. */
  readonly id: string
}

/** The object as a handler found or left it. */
export interface Answer<V extends Views> {
  readonly state: V['answer']
  /** Bytes to store beside the state. Left out: those that the handler was given. */
  readonly private?: Uint8Array
}

/** A managed resource, with types inferred from its schema. Give it to `resourceFor`. */
export type Resource<S extends Schema, Client> = ResourceHandlers<ViewsOf<NoInfer<S>>, Client> & {
  readonly schema: S
}

interface ResourceHandlers<V extends Views, Client> {
  readonly schema: Schema
  /**
   * Names of the attributes that name an object for good, such as its id: with Terraform 1.12 and later it is
   * stored as the object's identity, and an object can be imported by it. Left out: no identity.
   */
  readonly identity?: readonly string[]
  /** From a state of version `n` to one of version `n + 1`, for every `n` below the schema's version. Pure. */
  readonly upgraders?: { readonly [version: number]: (state: JsonObject) => JsonObject }
  /** Rules between attributes. Runs without a client. */
  validate?(context: ValidateContext<V['config']>): Awaitable<void>
  /** Amends a plan that already has defaults, stable values and unknowns. */
  plan?(context: PlanContext<V, Client>): Awaitable<PlanAmendment<V> | undefined>
  /**
   * The object as it is; `null` when it is gone. Attributes that are left out keep their stored value.
   * Failure leaves the stored state alone.
   */
  read(context: ReadContext<V, Client>): Awaitable<Answer<V> | null>
  /**
   * Makes the object. Attributes that were planned are saved as planned; the answer fills in the unknown ones.
   * Failure saves what `keep` recorded, and then the resource is tainted; nothing, if it was never called.
   */
  create(context: CreateContext<V, Client>): Awaitable<Answer<V>>
  /** Changes the object. Failure saves what `keep` recorded; the prior state, if it was never called. */
  update?(context: UpdateContext<V, Client>): Awaitable<Answer<V>>
  /** Removes the object; one that is already gone is success. Failure keeps the prior state. */
  delete(context: DeleteContext<V, Client>): Awaitable<void>
  /** A stub of the object with what `read` needs to find it. Left out: the resource cannot be imported. */
  import?(context: ImportContext<Client>): Awaitable<Answer<V>>
}

/** What a handler of this name gets, for functions of your own. @public */
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
  /** What was looked up. Attributes that are left out are as configured. */
  read(context: DataSourceContext<V, Client>): Awaitable<{ readonly state: V['answer'] }>
}

export type AnyResource<Client> = ResourceHandlers<AnyViews, Client>
export type AnyDataSource<Client> = DataSourceHandlers<AnyViews, Client>

function anyResource<S extends Schema, Client>(resource: Resource<S, Client>): AnyResource<Client>
function anyResource<Client>(resource: AnyResource<Client>): AnyResource<Client> {
  return resource
}

function anyDataSource<S extends Schema, Client>(source: DataSource<S, Client>): AnyDataSource<Client>
function anyDataSource<Client>(source: AnyDataSource<Client>): AnyDataSource<Client> {
  return source
}

/** A function that checks a resource's handlers against its schema: `resourceFor<Client>()({ schema, … })`. */
export function resourceFor<Client>(): <S extends Schema>(
  resource: Resource<S, Client>,
) => AnyResource<Client> {
  return (resource) => anyResource(resource)
}

/** A function that checks a data source's handlers against its schema. */
export function dataSourceFor<Client>(): <S extends Schema>(
  source: DataSource<S, Client>,
) => AnyDataSource<Client> {
  return (source) => anyDataSource(source)
}

export interface ProviderDefinition<S extends Schema, Client> {
  /** The type in `terraform-provider-<name>`; every resource and data source is called `<name>_…`. */
  readonly name: string
  readonly version: string
  readonly schema: S
  validate?(context: ValidateContext<ConfigOf<S>>): Awaitable<void>
  /** Makes what handlers get as `client`. Runs in every process that does real work: no requests here. */
  configure(context: ConfigureContext<ConfigOf<S>>): Awaitable<Client>
  readonly resources: { readonly [typeName: string]: AnyResource<Client> }
  readonly dataSources?: { readonly [typeName: string]: AnyDataSource<Client> }
  /** What finds objects of a resource, by the resource's name; it has to have an identity. Terraform 1.14 asks. */
  readonly lists?: { readonly [typeName: string]: AnyList<Client> }
  /** What Terraform 1.14 can do once, such as after a change; named as resources are. */
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
