import { TerraformStack, TerraformVariable } from 'cdktf'
import type { Construct } from 'constructs'
import { literal } from './literal.ts'

/**
 * A reference to a secret, never the secret: the synthesised stack names a variable. Created by `secretFromEnv`,
 * `secretFromVariable` and `secretText` only; a plain text does not compile in its place.
 */
export class Secret {
  readonly #expressionIn: (scope: Construct) => string

  /** @internal */
  constructor(expressionIn: (scope: Construct) => string) {
    this.#expressionIn = expressionIn
  }

  /** @internal */
  in(scope: Construct): string {
    return this.#expressionIn(scope)
  }

  /** Throws, so that a secret is not put into a text by mistake. */
  toString(): never {
    throw new Error(
      'a secret cannot be used as text: put it into secretText`…`, and that into secretHeader or secretBody',
    )
  }

  /** Throws, like `toString`. */
  toJSON(): never {
    return this.toString()
  }
}

/**
 * The secret in `variable`, which becomes ephemeral: neither state nor plan holds its value. Throws when it is
 * not sensitive, and when it has a default, which would be written into the stack; where it is used, when that is
 * another stack, which would get it from the state of the first.
 */
export function secretFromVariable(variable: TerraformVariable): Secret {
  const name = variable.node.path
  if (variable.sensitive !== true) throw new Error(`variable ${name} holds a secret: set sensitive: true`)
  if (variable.default !== undefined) {
    throw new Error(`variable ${name} holds a secret: its default would be written into the stack`)
  }
  variable.addOverride('ephemeral', true)
  return new Secret((scope) => {
    if (TerraformStack.of(scope) === TerraformStack.of(variable)) return variable.stringValue
    throw new Error(`variable ${name} belongs to another stack than ${scope.node.path}: declare one in each`)
  })
}

/**
 * The secret that the environment variable `name` contains when Terraform runs, not when the program does. The stack
 * gets one sensitive, ephemeral variable for it, however often it is used. Terraform reads `TF_VAR_x` into the
 * variable `x`, hence the name. Throws when `name` has another form, and when the stack has another construct with the
 * id `x`.
 */
export function secretFromEnv(name: `TF_VAR_${string}`): Secret {
  const [, id] = /^TF_VAR_([A-Za-z_]\w*)$/.exec(name) ?? []
  if (id === undefined)
    throw new Error(`${name} is not the name of a variable: use TF_VAR_ and the name of a Terraform variable`)
  return new Secret((scope) => {
    const stack = TerraformStack.of(scope)
    const existing = stack.node.tryFindChild(id)
    if (existing === undefined) {
      const variable = new TerraformVariable(stack, id, { type: 'string', sensitive: true })
      return secretFromVariable(variable).in(scope)
    }
    if (existing instanceof TerraformVariable) return secretFromVariable(existing).in(scope)
    throw new Error(`${existing.node.path} already exists, and is not a variable that ${name} can set`)
  })
}

/**
 * Text around secrets, such as secretText`Bearer ${token}`: also a secret. Throws without a secret in it, which does
 * not compile either: such a text would be written into the stack.
 */
export function secretText(
  texts: TemplateStringsArray,
  ...secrets: readonly [Secret, ...(readonly Secret[])]
): Secret {
  if (texts.length === 1)
    throw new Error('secretText holds no secret: its text would be written into the stack')
  return new Secret((scope) =>
    texts.map((text, index) => `${literal(text)}${secrets[index]?.in(scope) ?? ''}`).join(''),
  )
}
