/**
 * Private bytes between plan and apply.
 *
 * An apply receives only the planned private bytes. When an update fails, the prior bytes have to be kept: both are sent together,
 * and only one of them is stored in the end. A replacement is planned twice, and its delete receives the second plan's bytes, so
 * that plan passes on the prior bytes of the first one.
 */
import { bytes, message } from '../wire/message.ts'

const envelope = message({ planned: bytes(1), prior: bytes(2) })

export interface PrivateEnvelope {
  readonly planned: Uint8Array
  readonly prior: Uint8Array
}

/** Both in the single field of PlanResourceChange. */
export function sealPrivate(contents: PrivateEnvelope): Uint8Array {
  return envelope.encode(contents)
}

/** The inverse of `sealPrivate`. */
export function openPrivate(sealed: Uint8Array): PrivateEnvelope {
  return envelope.decode(sealed)
}
