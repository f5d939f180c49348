/** Lists: how Terraform 1.14 and later find objects that are not managed yet. */
import type { AnyViews, Awaitable, ConfiguredContext, ValidateContext, Views, ViewsOf } from './context.ts'
import type { Schema } from './schema.ts'

/** What a handler of this name gets, for functions of your own. @public */
export interface ListContext<V extends Views, Client> extends ConfiguredContext<Client> {
  readonly config: V['knownConfig']
}

/** An object that a list found. */
export interface ListedObject {
  /** What a person knows it by. */
  readonly displayName: string
  /** Attributes of the resource of the same name: those of its identity at least. */
  readonly state: object
}

/** Finds objects of the resource of the same name, with types inferred from its schema. Give it to `listFor`. */
export type ListResource<S extends Schema, Client> = ListHandlers<ViewsOf<NoInfer<S>>, Client> & {
  readonly schema: S
}

interface ListHandlers<V extends Views, Client> {
  /** Of the filter: the `config` block of a `list` block. */
  readonly schema: Schema
  validate?(context: ValidateContext<V['config']>): Awaitable<void>
  /** The objects, best in a lasting order. As many as Terraform asked for are sent to it. */
  list(context: ListContext<V, Client>): Awaitable<Iterable<ListedObject>>
}

export type AnyList<Client> = ListHandlers<AnyViews, Client>

function anyList<S extends Schema, Client>(list: ListResource<S, Client>): AnyList<Client>
function anyList<Client>(list: AnyList<Client>): AnyList<Client> {
  return list
}

/** A function that checks a list's handlers against its schema. */
export function listFor<Client>(): <S extends Schema>(list: ListResource<S, Client>) => AnyList<Client> {
  return (list) => anyList(list)
}
