import type { Construct } from 'constructs'
import { Service as GeneratedService, type ServiceConfig } from './.gen/service'
import { reserveAddress } from './address.ts'

/** The service of the bindings. Throws when another one of the stack has its Terraform address. */
export class Service extends GeneratedService {
  constructor(scope: Construct, id: string, config: ServiceConfig) {
    super(scope, id, config)
    reserveAddress(this)
  }
}
