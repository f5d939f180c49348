import type { Construct } from 'constructs'
import { Incident as GeneratedIncident, type IncidentConfig } from './.gen/incident'
import { takeAddress } from './address.ts'

/** An incident as in the bindings. Throws when another one of the stack has its Terraform address. */
export class Incident extends GeneratedIncident {
  constructor(scope: Construct, id: string, config: IncidentConfig) {
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
