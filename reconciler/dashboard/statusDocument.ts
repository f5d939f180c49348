import type { ControllerStatus } from '../controller/status/status.ts'
import { fieldDocument } from '../render/planDocument.ts'

/**
 * The document of `/status.json`: the complete status in the shape of `ControllerStatus`. Changed fields have the form of
 * `pharos plan --json`: a secret is `{"sealed": true}`, without its fingerprint. Pure.
 */
export function statusDocument(status: ControllerStatus): object {
  return {
    ...status,
    sets: status.sets.map((set) => ({
      ...set,
      services: set.services.map((service) => ({ ...service, fields: service.fields.map(fieldDocument) })),
    })),
  }
}
