/**
 * Limits of pages, so that a page of ten thousand services is no larger than one of a hundred. Omitted entries are counted on
 * the page, and `/status.json` has all.
 */

/** Sets in the table of all sets. */
export const SETS_IN_TABLE_MAX = 500
/** Sets with all details on the first page, the most urgent first. */
export const SETS_WHOLE_MAX = 20
/** Number of sets from which those without problems are only in the table. */
export const SETS_ALL_WHOLE_MAX = 3
/** Services that need attention, on the first page. */
export const ATTENTION_MAX = 100
/** Services on a page of a set. */
export const SERVICES_PER_PAGE = 100
/** Fields of one service that differ. */
export const FIELDS_MAX = 10
/** Lines of pending changes, invalid manifests and suspensions, each. */
export const LINES_MAX = 50
/** Characters of a message, and of a name or an address. */
export const MESSAGE_CHARS_MAX = 500
export const NAME_CHARS_MAX = 200
