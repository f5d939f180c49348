/**
 * Private bytes between plan and apply.
 *
 * Apply gets only the planned private bytes. When an update fails nothing of the plan came true, so the prior
 * bytes have to survive: both travel together, and only one of them is stored in the end. A replacement is planned
 * twice, and its delete gets the second plan's bytes: that plan passes the prior bytes of the first one on.
 */
import { bytes, message } from '../wire/message.ts'

const envelope = message({ planned: bytes(1), prior: bytes(2) })

export interface PrivateEnvelope {
  readonly planned: Uint8Array
  readonly prior: Uint8Array
}

/** Both as the one field that PlanResourceChange has. */
export function sealPrivate(contents: PrivateEnvelope): Uint8Array {
  return envelope.encode(contents)
}

/** Takes apart what `sealPrivate` made. */
export function openPrivate(sealed: Uint8Array): PrivateEnvelope {
  return envelope.decode(sealed)
}
