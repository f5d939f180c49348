import type { Type } from '../values/type.ts'
import type { Value } from '../values/value.ts'
import type { ValueOfType } from './inferred.ts'

/** One argument of a function. */
export interface FunctionParameter {
  readonly name: string
  readonly type: Type
  /** Markdown. */
  readonly description: string
}

/** The description of a function. */
interface Signature<P extends readonly FunctionParameter[], R extends Type> {
  /** One line. */
  readonly summary: string
  /** Markdown. */
  readonly description: string
  readonly parameters: P
  readonly returns: R
}

/** A function of a provider: `provider::<provider>::<name>(…)` in a configuration. Give it to `functionOf`. */
export interface ProviderFunction<P extends readonly FunctionParameter[], R extends Type>
  extends Signature<P, R> {
  /**
   * The result. Pure: Terraform calls it in the plan and again in the apply, and compares the results. Throws a FunctionError with a
   * message for the user.
   */
  call(...given: ArgumentsOf<P>): ValueOfType<R>
}

type ArgumentsOf<P extends readonly FunctionParameter[]> = {
  readonly [I in keyof P]: ValueOfType<P[I]['type']>
}

/** A function whose types are known only at run time. */
export interface AnyFunction extends Signature<readonly FunctionParameter[], Type> {
  call(given: readonly Value[]): Value
}

/** An error about the arguments of a function. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError'
  /** Index of the argument; `undefined` when no single one is the cause. */
  readonly argument: number | undefined

  constructor(message: string, argument?: number) {
    super(message)
    this.argument = argument
  }
}

/** Type-checks a function against its signature, and erases the types. */
export function functionOf<const P extends readonly FunctionParameter[], const R extends Type>(
  definition: ProviderFunction<P, R>,
): AnyFunction {
  return {
    ...definition,
    // True because Terraform sends one value of each parameter's type, and the result is one of the declared type.
    call: (given) => definition.call(...(given as ArgumentsOf<P>)) as Value,
  }
}
