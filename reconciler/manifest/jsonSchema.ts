import { z } from 'zod'
import {
  defaultsManifestSchema,
  environmentManifestSchema,
  serviceDocumentSchema,
} from './serviceManifest.ts'

/**
 * The JSON Schema (draft-7, which every editor knows) of one manifest document as it is written: what a
 * Service leaves to its Defaults is not required. Pure.
 */
export function manifestJsonSchema(): object {
  const documents = z.union([serviceDocumentSchema, defaultsManifestSchema, environmentManifestSchema])
  return z.toJSONSchema(documents, { target: 'draft-7', io: 'input', unrepresentable: 'any' })
}
