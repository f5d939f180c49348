/**
 * How much a page shows at most, so that ten thousand services make no larger page than a hundred. What is left
 * out is counted on the page, and `/status.json` has all of it.
 */

/** Sets in the table of all sets. */
export const SETS_IN_TABLE_MAX = 500
/** Sets that are shown whole on the first page, the most urgent first. */
export const SETS_WHOLE_MAX = 20
/** With more sets than these, those of which there is nothing to say stand in the table alone. */
export const SETS_ALL_WHOLE_MAX = 3
/** Services that need attention, on the first page. */
export const ATTENTION_MAX = 100
/** Services on a page of a set. */
export const SERVICES_PER_PAGE = 100
/** Fields of one service that differ. */
export const FIELDS_MAX = 10
/** Lines of changes that wait for an approval, manifests that cannot be used, suspensions: each. */
export const LINES_MAX = 50
/** Characters of a message, and of a name or an address. */
export const MESSAGE_CHARS_MAX = 500
export const NAME_CHARS_MAX = 200
