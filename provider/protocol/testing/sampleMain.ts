/** The sample provider as an executable. */
import { serveProvider } from '../serveProvider.ts'

void serveProvider('sample', async () => {
  const { served } = await import('../plugin/server.ts')
  const { sampleProvider } = await import('./sampleProvider.ts')
  return served(sampleProvider())
})
