import { writeFileSync } from 'node:fs'
import { webhookSchemas } from './webhookSchemas.ts'

// Writes the schemas of payloads that are kept in the repository, for receivers.
for (const [file, schema] of webhookSchemas()) {
  writeFileSync(
    new URL(`../../docs/webhooks/${file}`, import.meta.url),
    `${JSON.stringify(schema, null, 2)}\n`,
  )
}
