import { controllerJsonSchema } from '../../controller/config/controllerSchema.ts'
import { manifestJsonSchema } from '../../manifest/schema/jsonSchema.ts'
import { EXIT } from '../../run/exitCode.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'

/** Prints the JSON Schema of manifests, or of the controller's configuration, for editors. */
export async function schemaCommand(
  _args: readonly string[],
  { output, options }: CommandContext,
): Promise<CommandResult> {
  const schema = options.controller === true ? controllerJsonSchema() : manifestJsonSchema()
  output.result(JSON.stringify(schema, null, 2))
  return { exitCode: EXIT.converged, document: { schema } }
}
