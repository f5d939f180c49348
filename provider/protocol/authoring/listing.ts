/** Lists, with which Terraform 1.14 and later find unmanaged objects. */
import type { AnyViews, Awaitable, ConfiguredContext, ValidateContext, Views, ViewsOf } from './context.ts'
import type { Schema } from './schema.ts'

/** What a handler of this name gets, for functions of your own. @public */
export interface ListContext<V extends Views, Client> extends ConfiguredContext<Client> {
  readonly config: V['knownConfig']
}

/** An object in a list. */
export interface ListedObject {
  /** Its name for users. */
  readonly displayName: string
  /** Attributes of the resource of the same name, at least those of its identity. */
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
  /** The objects, preferably in a stable order. Terraform receives as many as it requested. */
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
