import { writeFileSync } from 'node:fs'
import { webhookSchemas } from './webhookSchemas.ts'

// Writes the JSON schemas of payloads to docs/webhooks.
for (const [file, schema] of webhookSchemas()) {
  writeFileSync(
    new URL(`../../docs/webhooks/${file}`, import.meta.url),
    `${JSON.stringify(schema, null, 2)}\n`,
  )
}
