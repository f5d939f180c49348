import { FunctionError } from '../authoring/providerFunction.ts'
import { containsUnknown } from '../values/equality.ts'
import type { Rpc } from './call.ts'
import { decodeValue, encodeValue } from './wireValue.ts'

/**
 * Calls a function. Terraform sends only known arguments that are not null, to a process that may be unconfigured.
 * Errors are reported at the call, or at the argument that a FunctionError names.
 */
export const callFunction: Rpc<'CallFunction'> = async (request, { session }) => {
  const called = session.provider.functions.get(request.name)
  if (called === undefined) return { error: { text: `the provider has no function ${request.name}` } }
  const { parameters, returns, call } = called
  try {
    const given = parameters.map(({ type }, index) => decodeValue(type, request.arguments[index]))
    const result = call(given)
    if (containsUnknown(result)) throw new Error('a function must not return an unknown value')
    return { result: encodeValue(returns, result) }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    const argument = error instanceof FunctionError ? error.argument : undefined
    return { error: { text, argument } }
  }
}
