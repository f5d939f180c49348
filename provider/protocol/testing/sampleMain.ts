/** The sample provider as an executable. */
import { serveProvider } from '../serveProvider.ts'
import { sampleProvider } from './sampleProvider.ts'

void serveProvider(sampleProvider())
