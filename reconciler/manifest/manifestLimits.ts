/** Deepest nesting of a manifest (levels). */
export const MANIFEST_DEPTH_MAX = 32
/** Largest manifest file (bytes). */
export const FILE_BYTES_MAX = 1024 * 1024
/** All manifest files of one set together (bytes). */
export const SET_BYTES_MAX = 64 * 1024 * 1024
/** Most documents of one set. */
export const SET_DOCUMENTS_MAX = 50_000
