import { controllerJsonSchema } from '../../controller/config/controllerSchema.ts'
import { manifestJsonSchema } from '../../manifest/schema/jsonSchema.ts'
import { EXIT } from '../../run/exitCode.ts'
import type { Command } from '../session/commandEntry.ts'

/** Prints the JSON Schema of manifests, or of the controller's configuration, for editors. */
export const schemaCommand: Command = async (_args, { output, options }) => {
  const schema = options.controller === true ? controllerJsonSchema() : manifestJsonSchema()
  output.result(JSON.stringify(schema, null, 2))
  return { exitCode: EXIT.converged, document: { schema } }
}
