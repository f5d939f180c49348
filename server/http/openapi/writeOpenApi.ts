import { writeFileSync } from 'node:fs'
import { openApi } from './openApi.ts'

// Writes the document that is kept in the repository, for those who read it without a server.
writeFileSync(
  new URL('../../../docs/openapi.json', import.meta.url),
  `${JSON.stringify(openApi(), null, 2)}\n`,
)
