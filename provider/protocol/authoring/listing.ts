/** List resources, with which Terraform 1.14 and later find unmanaged objects. */
import type { AnyViews, Awaitable, ConfiguredContext, ValidateContext, Views, ViewsOf } from './context.ts'
import { erased, type Schema } from './schema.ts'

/** The context of the handler of this name, for your own functions. @public */
export interface ListContext<V extends Views, Client> extends ConfiguredContext<Client> {
  readonly config: V['knownConfig']
}

/** An object in a list. */
export interface ListedObject {
  /** The name to show to users. */
  readonly displayName: string
  /** Attributes of the resource of the same name: at least those of its identity. */
  readonly state: object
}

/** Finds objects of the resource of the same name, with types inferred from its schema. Give it to `listFor`. */
export type ListResource<S extends Schema, Client> = ListHandlers<ViewsOf<NoInfer<S>>, Client> & {
  readonly schema: S
}

interface ListHandlers<V extends Views, Client> {
  /** The schema of the filter, which is the `config` block in a `list` block. */
  readonly schema: Schema
  validate?(context: ValidateContext<V['config']>): Awaitable<void>
  /** The objects, preferably in a stable order. Terraform receives as many as it requested. */
  list(context: ListContext<V, Client>): Awaitable<Iterable<ListedObject>>
}

export type AnyList<Client> = ListHandlers<AnyViews, Client>

/** Returns a function that type-checks a list's handlers against its schema. */
export function listFor<Client>(): <S extends Schema>(list: ListResource<S, Client>) => AnyList<Client> {
  return (list) => erased(list)
}
