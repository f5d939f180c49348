import { writeFileSync } from 'node:fs'
import { openApi } from './openApi.ts'

// Writes the document into the repository, for readers without a server.
writeFileSync(
  new URL('../../../docs/openapi.json', import.meta.url),
  `${JSON.stringify(openApi(), null, 2)}\n`,
)
