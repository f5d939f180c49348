import { writeFileSync } from 'node:fs'
import { manifestJsonSchema } from './jsonSchema.ts'
import { schemaCatalogue } from './schemaCatalogue.ts'

const write = (name: string, content: object): void =>
  writeFileSync(new URL(`../../../docs/${name}`, import.meta.url), `${JSON.stringify(content, null, 2)}\n`)

// Writes the schema and its catalogue to docs/, for editors without pharos.
write('manifest.schema.json', manifestJsonSchema())
write('schema-catalogue.json', schemaCatalogue())
