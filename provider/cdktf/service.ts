import type { Construct } from 'constructs'
import { Service as GeneratedService, type ServiceConfig } from './.gen/service'
import { takeAddress } from './address.ts'

/** A service as in the bindings. Throws when another one of the stack has its Terraform address. */
export class Service extends GeneratedService {
  constructor(scope: Construct, id: string, config: ServiceConfig) {
    super(scope, id, config)
    takeAddress(this)
  }

  override overrideLogicalId(newLogicalId: string): void {
    super.overrideLogicalId(newLogicalId)
    takeAddress(this, newLogicalId)
  }

  override resetOverrideLogicalId(): void {
    super.resetOverrideLogicalId()
    takeAddress(this)
  }
}
