import packageJson from '../package.json' with { type: 'json' }
import { pharosProvider } from './pharosProvider.ts'
import { served } from './protocol/plugin/providerRpcs.ts'

/** The provider `pharos`, served by the executable. */
export const pharos = served(pharosProvider(packageJson.version, process.env))
