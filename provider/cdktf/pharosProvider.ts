import type { Construct } from 'constructs'
import {
  type PharosProviderConfig as GeneratedConfig,
  PharosProvider as GeneratedProvider,
} from './.gen/provider'
import { Secret } from './secret.ts'

export interface PharosProviderConfig extends Omit<GeneratedConfig, 'apiKey'> {
  /** Default: the environment variable PHAROS_API_KEY where Terraform runs. */
  readonly apiKey?: Secret | undefined
}

/** The provider of the bindings; its API key is a secret, which is never written into the stack. */
export class PharosProvider extends GeneratedProvider {
  constructor(scope: Construct, id: string, config: PharosProviderConfig = {}) {
    const { apiKey, ...others } = config
    if (apiKey !== undefined && !(apiKey instanceof Secret)) {
      throw new Error(
        "apiKey is a secret: give it as secretFromEnv('TF_VAR_…') or secretFromVariable(variable), or leave it out and set PHAROS_API_KEY",
      )
    }
    super(scope, id, apiKey === undefined ? others : { ...others, apiKey: apiKey.in(scope) })
  }
}
