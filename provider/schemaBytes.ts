import packageJson from '../package.json' with { type: 'json' }
import { pharosProvider } from './pharosProvider.ts'
import { encodedSchema } from './protocol/rpc/getProviderSchema.ts'

/** The schema of `pharos` as it is sent to Terraform. The build puts the bytes in the place of this module. */
export const schemaBytes = encodedSchema(pharosProvider(packageJson.version, {}))
