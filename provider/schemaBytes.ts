import packageJson from '../package.json' with { type: 'json' }
import { pharosProvider } from './pharosProvider.ts'
import { encodedSchema } from './protocol/rpc/getProviderSchema.ts'

/** The schema of `pharos` as sent to Terraform. The build replaces this module by the bytes. */
export const schemaBytes = encodedSchema(pharosProvider(packageJson.version, {}))
