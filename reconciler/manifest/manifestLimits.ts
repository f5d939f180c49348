/** Deepest nesting of a manifest (levels). */
export const MANIFEST_DEPTH_MAX = 32
/** Largest manifest file (bytes). */
export const FILE_BYTES_MAX = 1024 * 1024
/** All manifest files of one set together (bytes). */
export const SET_BYTES_MAX = 64 * 1024 * 1024
/** Maximum of documents in one set. */
export const SET_DOCUMENTS_MAX = 50_000
/** Limits of one document: a schema takes long to report very many invalid values. */
export interface DocumentLimits {
  /** Longest list or mapping (items). */
  readonly itemsMax: number
  /** All values together. */
  readonly valuesMax: number
}

/** The API accepts at most 100 items of nearly every list. */
export const SERVICE_LIMITS: DocumentLimits = { itemsMax: 1_000, valuesMax: 20_000 }
/** An Environment may have a patch for every service. */
export const ENVIRONMENT_LIMITS: DocumentLimits = { itemsMax: 10_000, valuesMax: 100_000 }
/** Largest file in which all repeated keys are listed (characters), because that needs another parse. */
export const REPEATED_KEYS_CHARS_MAX = 256 * 1024
