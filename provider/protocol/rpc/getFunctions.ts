import type { Provider } from '../authoring/provider.ts'
import { encodeType } from '../values/type.ts'
import { MARKDOWN, type WireFunction } from '../wire/messageParts.ts'
import type { Rpc } from './call.ts'

/** The signatures of the provider's functions, by name. */
export function encodeFunctions({ functions }: Provider): ReadonlyMap<string, WireFunction> {
  return new Map(
    [...functions].map(([name, { summary, description, parameters, returns }]) => [
      name,
      {
        summary,
        description,
        descriptionKind: MARKDOWN,
        returns: { type: encodeType(returns) },
        parameters: parameters.map((parameter) => ({
          name: parameter.name,
          type: encodeType(parameter.type),
          description: parameter.description,
          descriptionKind: MARKDOWN,
        })),
      },
    ]),
  )
}

/** The provider's functions, for OpenTofu; Terraform reads them from the schema. */
export const getFunctions: Rpc<'GetFunctions'> = async (_request, { session }) => {
  return { functions: encodeFunctions(session.provider) }
}
