import { writeFileSync } from 'node:fs'
import { manifestJsonSchema } from './jsonSchema.ts'

// Writes the schema that is kept in the repository, for editors that have no pharos beside them.
writeFileSync(
  new URL('../../../docs/manifest.schema.json', import.meta.url),
  `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`,
)
