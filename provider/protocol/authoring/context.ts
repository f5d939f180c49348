/** The context of all handlers, and the values of a schema in handlers. */

import type { ObjectValue } from '../values/value.ts'
import type { Diagnostic } from './diagnostics.ts'
import type { AmendmentOf, ConfigOf, KnownConfigOf, PlannedOf, ResultOf, StateOf } from './inferred.ts'
import type { Log } from './log.ts'
import type { Schema } from './schema.ts'

export type Awaitable<T> = T | Promise<T>

/** The context of every handler. */
export interface CallContext {
  /** Aborts when Terraform is interrupted or cancels the call. Pass it to everything that waits. */
  readonly signal: AbortSignal
  readonly log: Log
  /** Shows a diagnostic. An error makes the call fail, regardless of the handler's result. */
  report(diagnostic: Diagnostic): void
}

/** The context of the handler of this name, for your own functions. @public */
export interface ValidateContext<Config> extends CallContext {
  /**
   * The configuration. Any value may be unknown; skip its rules then: validation runs again when the value is known.
   */
  readonly config: Config
}

/** The context of the handler of this name, for your own functions. @public */
export interface ConfigureContext<Config> extends CallContext {
  /** The provider block. During a plan it may contain unknown values. */
  readonly config: Config
  readonly terraformVersion: string
  /**
   * Aborts when Terraform is interrupted, at any time until the next configuration. A second interruption ends Terraform
   * immediately: the state may then lack results that the provider returned.
   */
  readonly interrupted: AbortSignal
}

export interface ConfiguredContext<Client> extends CallContext {
  /** The result of `configure`. */
  readonly client: Client
}

/** A schema's values as handlers see them. */
export type Views = Readonly<
  Record<'config' | 'knownConfig' | 'planned' | 'state' | 'result' | 'amendment', object>
>

/** The context of the handler of this name, for your own functions. @public */
export interface ViewsOf<S extends Schema> {
  readonly config: ConfigOf<S>
  readonly knownConfig: KnownConfigOf<S>
  readonly planned: PlannedOf<S>
  readonly state: StateOf<S>
  readonly result: ResultOf<S>
  readonly amendment: AmendmentOf<S>
}

/** The same values for a schema that is known only at run time. */
export type AnyViews = Views & Readonly<Record<'config' | 'knownConfig' | 'planned' | 'state', ObjectValue>>
