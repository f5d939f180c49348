import { SCHEMA_ADDRESS } from './jsonSchema.ts'

/** Names of files that are manifests in any folder. Others need the comment `# yaml-language-server: $schema=…`. */
const FILE_NAMES = ['*.pharos.yaml', '*.pharos.yml']

/**
 * The schema of manifests as a catalogue in the format of SchemaStore, with which editors find the schema of a file by its
 * name. Its entry is valid in the catalogue of schemastore.org. Pure.
 */
export function schemaCatalogue(): object {
  return {
    $schema: 'https://json.schemastore.org/schema-catalog.json',
    version: 1,
    schemas: [
      {
        name: 'Pharos manifest',
        description: 'Monitored services as code: a Service, Defaults or an Environment of Pharos',
        fileMatch: FILE_NAMES,
        url: SCHEMA_ADDRESS,
      },
    ],
  }
}
