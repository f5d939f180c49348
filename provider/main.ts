import { serveProvider } from './protocol/serveProvider.ts'

void serveProvider('pharos', async () => (await import('./servedProvider.ts')).pharos)
