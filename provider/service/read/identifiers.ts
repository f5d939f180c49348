/** Identification of existing services by UUID or by name. */
import type { ServiceResponse } from '../../../api/contract/service.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether `text` is a UUID, in any case. Pure. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/**
 * Whether `name` is the exact name of `service`. Terraform normalises texts to NFC but the API does not, so Unicode
 * forms of one text are the same name. Pure.
 */
export function hasName(service: ServiceResponse, name: string): boolean {
  return service.name.normalize('NFC') === name.normalize('NFC')
}
