import packageJson from '../package.json' with { type: 'json' }
import { pharosProvider } from './pharosProvider.ts'
import { served } from './protocol/plugin/providerRpcs.ts'

/** The provider `pharos` as the executable serves it. */
export const pharos = served(pharosProvider(packageJson.version, process.env))
