import type { ControllerStatus } from '../controller/status/status.ts'
import { fieldDocument } from '../render/planDocument.ts'

/**
 * What `/status.json` answers: the status, whole, in the shape of `ControllerStatus`. Each field that differs is
 * written as in `pharos plan --json`: a secret is `{"sealed": true}`, and its mark stays here. Pure.
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
