import { manifestJsonSchema } from '../manifest/jsonSchema.ts'
import { EXIT } from './exitCode.ts'
import type { CommandContext, CommandResult } from './runCommand.ts'

/** Prints the JSON Schema of manifests, for editors. */
export async function schemaCommand(
  _args: readonly string[],
  { output }: CommandContext,
): Promise<CommandResult> {
  const schema = manifestJsonSchema()
  output.result(JSON.stringify(schema, null, 2))
  return { exitCode: EXIT.converged, document: { schema } }
}
