/** Actions: one-off operations of Terraform 1.14 and later, outside any state. */
import type { AnyViews, Awaitable, ConfiguredContext, ValidateContext, Views, ViewsOf } from './context.ts'
import { erased, type Schema } from './schema.ts'

/** The context of the handler of this name, for your own functions. @public */
export interface InvokeContext<V extends Views, Client> extends ConfiguredContext<Client> {
  readonly config: V['knownConfig']
  /** Shows a line to the user immediately. */
  progress(message: string): void
}

/** An action, with types inferred from its schema. Give it to `actionFor`. */
export type Action<S extends Schema, Client> = ActionHandlers<ViewsOf<NoInfer<S>>, Client> & {
  readonly schema: S
}

interface ActionHandlers<V extends Views, Client> {
  /** The schema of the `config` block in an `action` block. */
  readonly schema: Schema
  validate?(context: ValidateContext<V['config']>): Awaitable<void>
  /** Performs the action. An exception makes it fail. */
  invoke(context: InvokeContext<V, Client>): Awaitable<void>
}

export type AnyAction<Client> = ActionHandlers<AnyViews, Client>

/** Returns a function that type-checks an action's handlers against its schema. */
export function actionFor<Client>(): <S extends Schema>(action: Action<S, Client>) => AnyAction<Client> {
  return (action) => erased(action)
}
