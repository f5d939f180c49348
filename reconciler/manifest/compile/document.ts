import type { Mapping } from '../mapping.ts'
import type { ManifestFile } from '../read/readYaml.ts'

/** A document that is a mapping of a known kind. */
export interface Document {
  readonly source: ManifestFile
  readonly index: number
  readonly mapping: Mapping
  readonly faulty: boolean
  /** Whether it stands for Defaults that could not be read; its mapping is empty. */
  readonly isHidden?: true
}
