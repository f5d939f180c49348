/** The sample provider as an executable. */
import { serveProvider } from '../serveProvider.ts'

void serveProvider('sample', {
  provider: async () => {
    const { served } = await import('../plugin/providerRpcs.ts')
    const { sampleProvider } = await import('./sampleProvider.ts')
    return served(sampleProvider())
  },
})
