import { serveProvider } from './protocol/serveProvider.ts'

void serveProvider('pharos', {
  provider: async () => (await import('./servedProvider.ts')).pharos,
  schema: async () => (await import('./schemaBytes.ts')).schemaBytes,
})
