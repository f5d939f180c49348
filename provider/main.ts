import packageJson from '../package.json' with { type: 'json' }
import { pharosProvider } from './pharosProvider.ts'
import { serveProvider } from './protocol/serveProvider.ts'

void serveProvider(pharosProvider(packageJson.version, process.env))
