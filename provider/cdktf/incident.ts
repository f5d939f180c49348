import type { Construct } from 'constructs'
import { Incident as GeneratedIncident, type IncidentConfig } from './.gen/incident'
import { reserveAddress } from './address.ts'

/** The incident of the bindings. Throws when another one of the stack has its Terraform address. */
export class Incident extends GeneratedIncident {
  constructor(scope: Construct, id: string, config: IncidentConfig) {
    super(scope, id, config)
    reserveAddress(this)
  }
}
