/**
 * Private bytes between plan and apply.
 *
 * An apply receives only the planned private bytes, but needs the prior ones when an update fails. So both are sent
 * together, and only one of them is stored in the end. A replacement is planned twice, and its delete receives the
 * bytes of the second plan; therefore the second plan passes on the prior bytes of the first.
 */
import { bytes, message } from '../wire/message.ts'

const envelope = message({ planned: bytes(1), prior: bytes(2) })

export interface PrivateEnvelope {
  readonly planned: Uint8Array
  readonly prior: Uint8Array
}

/** Packs both into the single field of PlanResourceChange. */
export function sealPrivate(contents: PrivateEnvelope): Uint8Array {
  return envelope.encode(contents)
}

/** The inverse of `sealPrivate`. */
export function openPrivate(sealed: Uint8Array): PrivateEnvelope {
  return envelope.decode(sealed)
}
